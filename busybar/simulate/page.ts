/** The page at `/`: both displays as LEDs, what is drawn, the requests, and the buttons. Loads nothing else. */

export const PAGE = /* html */ `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Simulated BUSY Bar</title>
<link rel="icon" href="data:,">
<style>
:root {
	color-scheme: dark;
	--ground: #0e0f12; --panel: #16181d; --line: #262a32; --text: #e7e9ee; --dim: #8b92a1; --accent: #ff7a1a;
	--ok: #5fd38a; --warn: #ffc24b; --bad: #ff6b6b;
}
* { box-sizing: border-box; }
body {
	margin: 0; min-height: 100vh; padding: 26px clamp(16px, 3vw, 44px); color: var(--text);
	background: radial-gradient(1100px 560px at 34% 0, #20242d, var(--ground) 72%) no-repeat var(--ground);
	font: 14px/1.45 ui-sans-serif, system-ui, "Segoe UI", sans-serif;
}
code, .mono { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: 12.5px; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 14px; margin-bottom: 20px; }
h1 { margin: 0; font-size: 17px; font-weight: 650; letter-spacing: .01em; }
h2 { margin: 0; font-size: 12px; font-weight: 600; letter-spacing: .07em; text-transform: uppercase; color: var(--dim); }
header .mono { color: var(--dim); }
.offline { display: none; color: var(--bad); }
body.is-offline .offline { display: inline; }
body.is-offline main { opacity: .45; }
main { display: grid; grid-template-columns: minmax(0, 1.75fr) minmax(330px, 1fr); gap: 26px; align-items: start; }
@media (max-width: 1020px) { main { grid-template-columns: minmax(0, 1fr); } }
.bar {
	position: relative; padding: 20px 22px; border-radius: 20px; border: 1px solid #34383f;
	background: linear-gradient(#2c2f36, #1d2025 12%, #17191d 88%, #111316);
	box-shadow: 0 26px 60px -22px #000, inset 0 1px 0 #ffffff1c, inset 0 -2px 3px #0009;
}
.glass { border-radius: 9px; background: #050506; padding: 9px; box-shadow: inset 0 0 0 1px #000, inset 0 2px 12px #000; position: relative; }
.glass::after {
	content: ""; position: absolute; inset: 0; border-radius: inherit; pointer-events: none;
	background: linear-gradient(168deg, #ffffff0d, transparent 36%);
}
canvas { display: block; width: 100%; height: auto; }
.caption { display: flex; justify-content: space-between; gap: 12px; margin: 9px 4px 0; color: var(--dim); font-size: 12px; }
.back { display: grid; grid-template-columns: minmax(0, 7fr) minmax(200px, 5fr); gap: 22px; margin-top: 22px; align-items: start; }
@media (max-width: 640px) { .back { grid-template-columns: minmax(0, 1fr); } }
.card { background: var(--panel); border: 1px solid var(--line); border-radius: 14px; padding: 15px 17px; }
.card + .card { margin-top: 14px; }
.owner { font-size: 19px; font-weight: 620; margin: 7px 0 2px; overflow-wrap: anywhere; }
.sub { color: var(--dim); }
.element { margin-top: 11px; }
.element .row { display: flex; justify-content: space-between; gap: 10px; }
.meter { height: 4px; border-radius: 2px; background: #2a2e37; overflow: hidden; margin-top: 4px; }
.meter i { display: block; height: 100%; background: var(--accent); border-radius: 2px; }
.note { margin-top: 10px; color: var(--warn); }
.keys { display: grid; grid-template-columns: repeat(auto-fill, minmax(62px, 1fr)); gap: 7px; margin-top: 12px; }
button {
	font: inherit; font-size: 12.5px; color: var(--text); background: #23272f; border: 1px solid #353a45; border-radius: 8px;
	padding: 6px 4px; cursor: pointer;
}
button:hover { background: #2e333d; }
button:active { transform: translateY(1px); }
button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
button.wide { width: 100%; margin-top: 9px; padding: 8px; }
button[aria-pressed="true"] { background: #b3261e; border-color: #e0544b; color: #fff; }
.journal { padding: 15px 0 0; overflow: hidden; display: flex; flex-direction: column; max-height: calc(100vh - 100px); position: sticky; top: 20px; }
.journal h2 { padding: 0 17px 11px; border-bottom: 1px solid var(--line); }
.journal ol { list-style: none; margin: 0; padding: 0; overflow-y: auto; flex: 1; }
.journal li { display: grid; grid-template-columns: 42px minmax(0, 1fr) auto; gap: 2px 11px; padding: 8px 17px; border-bottom: 1px solid #1f2229; }
.journal li > .status { font-weight: 650; }
.journal .what { overflow-wrap: anywhere; }
.journal .when { color: var(--dim); white-space: nowrap; }
.journal .more { grid-column: 2 / -1; color: var(--dim); overflow-wrap: anywhere; }
.s2 { color: var(--ok); } .s4 { color: var(--warn); } .s5 { color: var(--bad); } .s0 { color: var(--dim); }
.empty { padding: 20px 17px; color: var(--dim); }
</style>
</head>
<body>
<header>
	<h1>Simulated BUSY Bar</h1>
	<span class="mono" id="address"></span>
	<span class="offline">The simulated bar has stopped.</span>
</header>
<main>
	<section>
		<div class="bar">
			<div class="glass"><canvas id="front" role="img" aria-label="Front display"></canvas></div>
			<div class="caption"><span>Front, 72 × 16</span><span id="front-state"></span></div>
		</div>
		<div class="back">
			<div class="bar">
				<div class="glass"><canvas id="back" role="img" aria-label="Back display"></canvas></div>
				<div class="caption"><span>Back, 160 × 80</span><span id="back-state"></span></div>
			</div>
			<div>
				<div class="card">
					<h2>On the bar</h2>
					<div class="owner" id="owner"></div>
					<div class="sub" id="priority"></div>
					<div id="elements"></div>
					<div class="note" id="note" hidden></div>
				</div>
				<div class="card">
					<h2>Buttons</h2>
					<div class="keys" id="keys"></div>
					<button class="wide" id="busy" aria-pressed="false">Start a BUSY timer</button>
				</div>
			</div>
		</div>
	</section>
	<section class="card journal">
		<h2>Requests</h2>
		<ol id="journal"></ol>
		<div class="empty" id="quiet">None yet. Try <code id="try"></code></div>
	</section>
</main>
<script>
"use strict";
const byId = (id) => document.getElementById(id);
const element = (tag, className, text) => {
	const node = document.createElement(tag);
	node.className = className;
	node.textContent = text ?? "";
	return node;
};
const unpack = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

/* Each LED is a disc; a blurred copy over all of them makes the glow. */
class Panel {
	constructor(canvas, width, height, pitch, radius, unlit) {
		Object.assign(this, { canvas, width, height, pitch, radius, unlit, shown: undefined });
		canvas.width = width * pitch;
		canvas.height = height * pitch;
		this.context = canvas.getContext("2d", { alpha: false });
		this.glow = document.createElement("canvas");
		this.glow.width = width;
		this.glow.height = height;
	}
	draw(key, colorOf) {
		if (key === this.shown) return;
		this.shown = key;
		const { context, width, height, pitch, radius } = this;
		const small = this.glow.getContext("2d");
		const image = small.createImageData(width, height);
		context.globalCompositeOperation = "source-over";
		context.fillStyle = "#050506";
		context.fillRect(0, 0, width * pitch, height * pitch);
		for (let i = 0; i < width * height; i++) {
			const [red, green, blue] = colorOf(i);
			image.data.set([red, green, blue, 255], i * 4);
			const isLit = red + green + blue > 0;
			/* LEDs look brighter than their values: raise the low ones, and never go below an unlit one. */
			const lift = (value) => Math.max(20, Math.round(255 * (value / 255) ** 0.75));
			context.fillStyle = isLit ? "rgb(" + lift(red) + "," + lift(green) + "," + lift(blue) + ")" : this.unlit;
			context.beginPath();
			context.arc(((i % width) + 0.5) * pitch, (Math.floor(i / width) + 0.5) * pitch, radius, 0, 7);
			context.fill();
		}
		small.putImageData(image, 0, 0);
		context.globalCompositeOperation = "lighter";
		context.filter = "blur(" + pitch * 0.9 + "px)";
		context.globalAlpha = 0.5;
		context.drawImage(this.glow, 0, 0, width * pitch, height * pitch);
		context.filter = "none";
		context.globalAlpha = 1;
	}
}
const front = new Panel(byId("front"), 72, 16, 16, 6.1, "#141414");
const back = new Panel(byId("back"), 160, 80, 5, 2.25, "#101114");

function drawScreens(view) {
	const pixels = unpack(view.front);
	front.draw(view.front, (i) => [pixels[i * 3 + 2], pixels[i * 3 + 1], pixels[i * 3]]);
	const nibbles = unpack(view.back);
	back.draw(view.back, (i) => {
		const level = ((nibbles[i >> 1] >> (i % 2 ? 4 : 0)) & 15) * 17;
		return [level, level * 0.98, level * 0.92];
	});
	byId("front-state").textContent = view.lit.front ? "lit" : "dark";
	byId("back-state").textContent = view.lit.back ? "lit" : "dark";
}

const seconds = (ms) => (ms < 10000 ? (ms / 1000).toFixed(1) : Math.round(ms / 1000)) + " s";
/* The full time of each element, for its meter: the longest remaining time since it was last drawn. */
const fullMs = new Map();

function drawState(view) {
	const { canvas, parked, busy } = view;
	byId("owner").textContent = canvas.applicationName ?? (busy ? "BUSY timer" : "Nothing drawn");
	byId("priority").textContent = canvas.applicationName
		? "priority " + canvas.priority
		: busy ? "priority " + view.loaderPriority + ", above every drawing" : "A real bar would show its clock.";
	const rows = canvas.elements.map(({ id, type, display, remainingMs, file, loadError }) => {
		const key = canvas.applicationName + "/" + id;
		const full = Math.max(remainingMs ?? 0, remainingMs > (fullMs.get(key)?.last ?? 0) ? remainingMs : fullMs.get(key)?.full ?? 0);
		fullMs.set(key, { full, last: remainingMs ?? 0 });
		const node = element("div", "element");
		const row = element("div", "row");
		row.append(element("code", "", id), element("span", "sub", remainingMs === null ? "until cleared" : seconds(remainingMs) + " left"));
		const what = type + " on the " + display + (file ? ", " + file.split("/").pop() : "") + (loadError ? ": cannot be loaded" : "");
		node.append(row, element("div", loadError ? "sub s4" : "sub", what));
		if (remainingMs !== null) {
			const meter = element("div", "meter");
			const fill = document.createElement("i");
			fill.style.width = (100 * remainingMs) / (full || 1) + "%";
			meter.append(fill);
			node.append(meter);
		}
		return node;
	});
	byId("elements").replaceChildren(...rows);
	const faults = Object.entries(view.faults).filter(([, value]) => value !== false).map(([name, value]) => value === true ? name : name + " " + value);
	const notes = [];
	if (parked) notes.push("A draw by " + parked.applicationName + " (priority " + parked.priority + ") waits " + seconds(parked.remainingMs) + " before it is refused");
	if (faults.length > 0) notes.push("Faults: " + faults.join(", "));
	byId("note").textContent = notes.join(". ");
	byId("note").hidden = notes.length === 0;
	byId("busy").textContent = busy ? "Stop the BUSY timer" : "Start a BUSY timer";
	byId("busy").setAttribute("aria-pressed", String(busy));
}

const rows = new Map();
let lastRevision = 0;
function describe({ method, path, query, applicationName, bytes, body }) {
	const parts = [];
	if (applicationName) parts.push(applicationName);
	if (query.file) parts.push(query.file);
	if (query.path) parts.push(query.path);
	if (query.key) parts.push("button " + query.key);
	if (query.display) parts.push("display " + query.display);
	if (method === "POST" && path === "/api/assets/upload") parts.push(bytes + " bytes");
	if (body?.priority) parts.push("priority " + body.priority);
	for (const drawn of body?.elements ?? []) {
		parts.push([drawn.type, drawn.path ?? drawn.text, drawn.timeout ? "for " + drawn.timeout + " s" : ""].filter(Boolean).join(" "));
	}
	return parts.join(" · ");
}
function drawJournal(entries) {
	for (const entry of entries) {
		const { seq, revision, at, method, path, status, ms, unheard } = entry;
		const row = element("li", "");
		const statusText = status ? String(status) : "···";
		const time = new Date(at).toLocaleTimeString([], { hour12: false });
		row.append(
			element("span", "mono status s" + (status ? Math.floor(status / 100) : 0), statusText),
			element("span", "mono what", method + " " + path.replace("/api/", "")),
			element("span", "mono when", time + (ms === undefined ? "" : " · " + Math.round(ms) + " ms")),
		);
		const more = describe(entry) + (unheard ? " · the client had disconnected" : "");
		if (more) row.append(element("div", "more", more));
		if (rows.has(seq)) rows.get(seq).replaceWith(row);
		else byId("journal").prepend(row);
		rows.set(seq, row);
		lastRevision = Math.max(lastRevision, revision);
		byId("quiet").hidden = true;
	}
	for (const seq of [...rows.keys()].sort((a, b) => a - b).slice(0, Math.max(0, rows.size - 200))) {
		rows.get(seq).remove();
		rows.delete(seq);
	}
}

async function poll() {
	try {
		const view = await (await fetch("/_sim/live?after=" + lastRevision)).json();
		document.body.classList.remove("is-offline");
		byId("address").textContent = location.host + "  ·  API " + view.api;
		drawScreens(view);
		drawState(view);
		drawJournal(view.journal);
		setTimeout(poll, document.hidden ? 500 : 60);
	} catch {
		document.body.classList.add("is-offline");
		setTimeout(poll, 1000);
	}
}

for (const key of ["up", "down", "ok", "back", "start", "busy", "custom", "off", "apps", "settings"]) {
	const button = element("button", "", key === "ok" ? "OK" : key[0].toUpperCase() + key.slice(1));
	button.addEventListener("click", () => void fetch("/_sim/key?key=" + key, { method: "POST" }));
	byId("keys").append(button);
}
byId("busy").addEventListener("click", () => {
	const on = byId("busy").getAttribute("aria-pressed") !== "true";
	void fetch("/_sim/busy?on=" + on, { method: "POST" });
});
byId("try").textContent = "pi-busybar show --addr " + location.host + " --input FILE.anim --loop";
void poll();
</script>
</body>
</html>
`;
