// Loaded before the bundled CLI: adds to each of its requests which pi it was made for, so that the bar's journal tells.

const http = process.getBuiltinModule("node:http");
const { request } = http;
http.request = (options, ...more) => {
	const path = `${options.path}${options.path.includes("?") ? "&" : "?"}pi=${process.env.CROWD_PI}`;
	return request({ ...options, path }, ...more);
};
