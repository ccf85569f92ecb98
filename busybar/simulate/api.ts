/**
 * The bar's own HTTP endpoints: which paths and methods exist, and what each does to the bar. docs/bar.md lists what a
 * real bar has besides.
 */

import { displays } from "../displays.ts";
import { parseObject } from "../json.ts";
import type { Bar } from "./bar.ts";
import type { DrawOutcome } from "./canvas.ts";
import { BadRequest, parseDrawRequest, parseElementIds } from "./draw-request.ts";
import { packBack, packFront } from "./picture.ts";

export interface Answer {
	readonly status: number;
	readonly body: string;
	readonly contentType?: string;
	readonly headers?: Readonly<Record<string, string>>;
	/** The bar closes the connection after this answer. */
	readonly closes?: boolean;
}

interface Call {
	readonly bar: Bar;
	readonly query: URLSearchParams;
	/** Empty if there is none. */
	readonly body: string;
}

type Handler = (call: Call) => Answer | Promise<Answer>;

/** The firmware copies the name in a clear into 64 bytes; a name that does not fit counts as none. */
const LONGEST_CLEAR_NAME = 63;
const LONGEST_STORAGE_PATH = 63;
const KEYS = ["up", "down", "ok", "back", "start", "busy", "custom", "off", "apps", "settings"];
/** While something is drawn, the canvas takes every button, and these dismiss the drawing. */
const DISMISSING_KEYS = ["back", "busy", "custom", "off", "apps", "settings"];

export const DRAW_PATH = "/api/display/draw";
export const UPLOAD_PATH = "/api/assets/upload";

/** Without the upload, whose body is a stream (upload.ts). */
export const ENDPOINTS: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
	"/api/version": { GET: ({ bar }) => json({ api_semver: bar.model.apiSemver }) },
	"/api/transport": { GET: ({ bar }) => json({ type: bar.access === "usb" ? "usb" : "wifi" }) },
	"/api/access": {
		GET: ({ bar }) => json({ mode: bar.access === "usb" ? "disabled" : bar.access, key_valid: bar.hasToken }),
	},
	"/api/name": { GET: () => json({ name: "BUSY Bar" }) },
	"/api/status": {
		GET: ({ bar }) => json({ device: device(), firmware: firmware(bar), system: system(bar), power: power() }),
	},
	[DRAW_PATH]: { POST: draw, DELETE: clear },
	[UPLOAD_PATH]: {},
	"/api/storage/list": { GET: listStorage },
	"/api/busy/snapshot": {
		GET: ({ bar }) => json(bar.busy.snapshot()),
		PUT: ({ bar, body }) => (bar.busy.set(parseObject(body)) ? ok() : refusal(bar, 400, "Bad Request")),
	},
	"/api/input": { POST: ({ bar, query }) => pressKey(bar, query.get("key") ?? "") },
	"/api/screen": { GET: readScreen },
};

/** The bar's JSON ends in a newline. */
export function json(value: unknown, status = 200): Answer {
	return { status, body: `${JSON.stringify(value)}\n` };
}

export function ok(): Answer {
	return json({ result: "OK" });
}

/** In the words of the simulated firmware version. */
export function refusal(bar: Bar, status: number, error: string): Answer {
	if (!bar.model.terseErrors) return json({ error }, status);
	return json({ error: status === 400 ? "Bad Request" : error, code: status }, status);
}

function draw({ bar, body }: Call): Answer | Promise<Answer> {
	const request = parseDrawRequest(body);
	for (const element of request.elements) {
		if (element.type !== "image") continue;
		const image = bar.decoder.image(bar.storage.read(element.file));
		if (image === undefined) throw new BadRequest("failed to decode image");
		const { width, height } = displays[element.display];
		if (image.width > width || image.height > height) {
			throw new BadRequest(`exceeds display dimensions ${width}x${height}`);
		}
	}
	return new Promise((resolve) => {
		bar.canvas.draw(request, (outcome) => resolve(drawAnswer(bar, outcome)));
	});
}

function drawAnswer(bar: Bar, outcome: DrawOutcome): Answer {
	switch (outcome) {
		case "drawn":
			return ok();
		case "refused":
			return refusal(bar, 409, "Not drawn due to low priority");
		case "too many elements":
			return refusal(bar, 400, "Elements number limit exceeded");
		case "changed element":
			return refusal(bar, 400, "Unspecified request error");
	}
}

/** The firmware loses a name in the body, and then clears everything. */
function clear({ bar, query, body }: Call): Answer {
	const name = query.get("application_name") ?? "";
	const isScoped = name !== "" && name.length <= LONGEST_CLEAR_NAME;
	switch (bar.canvas.clear(isScoped ? name : undefined, parseElementIds(body))) {
		case "cleared":
			return ok();
		case "not displaying":
			return refusal(bar, 400, "this application_name is currently not displaying anything");
		case "unknown element":
			return refusal(bar, 400, "one of element_ids is non-existent");
	}
}

function listStorage({ bar, query }: Call): Answer {
	const path = query.get("path") ?? "";
	const isAllowed = /^\/ext(\/[A-Za-z0-9._-]*)*$/.test(path) && path.length <= LONGEST_STORAGE_PATH;
	const list = isAllowed ? bar.storage.list(path) : undefined;
	return list === undefined ? refusal(bar, 400, "Bad Request") : json({ list });
}

export function pressKey(bar: Bar, key: string): Answer {
	if (!KEYS.includes(key)) return refusal(bar, 400, "Bad Request");
	if (DISMISSING_KEYS.includes(key)) bar.canvas.clear();
	return ok();
}

function readScreen({ bar, query }: Call): Answer {
	const display = query.get("display");
	if (display !== "0" && display !== "1") return refusal(bar, 400, "Bad Request");
	const pixels = display === "0" ? packFront(bar.screen("front")) : packBack(bar.screen("back"));
	return { status: 200, body: Buffer.from(pixels).toString("base64"), contentType: "image/bmp" };
}

function device() {
	return {
		serial_number: "000000000000000000000000",
		usb_mac: "02:00:00:00:00:01",
		wifi_mac: "02:00:00:00:00:02",
		ble_mac: "02:00:00:00:00:03",
		otp_valid: true,
		otp_model: "BB.1",
		otp_timestamp: 1_767_225_600,
		firmware_security: "insecure",
	};
}

function firmware({ model }: Bar) {
	return {
		version: model.firmwareVersion,
		target: 22,
		branch: "simulated",
		build_date: model.buildDate,
		commit_hash: model.commitHash,
		intercom_version: model.commitHash,
	};
}

function system({ model, clock, bootedAtMs }: Bar) {
	const seconds = Math.floor((clock.now() - bootedAtMs) / 1000);
	const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
	return {
		api_semver: model.apiSemver,
		uptime: `${two(seconds / 86_400)}d ${two((seconds / 3600) % 24)}h ${two((seconds / 60) % 60)}m ${two(seconds % 60)}s`,
		boot_time: Math.floor(bootedAtMs / 1000),
		auto_update_enabled: false,
	};
}

function power() {
	return { state: "charged", battery_charge: 100, battery_voltage: 4183, battery_current: 0, usb_voltage: 4990 };
}
