// Pictures of a bar's screens for tests, demo and README: read over HTTP as from a real bar, drawn as round LEDs.

import { request } from "node:http";
import { PNG } from "pngjs";

export interface Screen {
	readonly width: number;
	readonly height: number;
	/** `width * height * 3` bytes R, G, B, rows from the top. */
	readonly rgb: Uint8Array;
}

/** Fetches and unpacks `/api/screen`. `addr` is host:port. */
export async function readScreen(addr: string, display: "front" | "back", token?: string): Promise<Screen> {
	const path = `/api/screen?display=${display === "front" ? 0 : 1}`;
	return unpackScreen(await get(`http://${addr}${path}`, token), display);
}

/** From the base64 text that the bar sends. */
export function unpackScreen(base64: string, display: "front" | "back"): Screen {
	const packed = Buffer.from(base64, "base64");
	return display === "front" ? unpackFront(packed) : unpackBack(packed);
}

/** A PNG of dots on black, each `scale` pixels wide; an unlit LED is still to be seen. */
export function ledPng(rgb: Uint8Array, width: number, height: number, scale: number): Buffer {
	const png = new PNG({ width: width * scale, height: height * scale });
	const radius = scale * 0.42;
	for (let y = 0; y < png.height; y++) {
		for (let x = 0; x < png.width; x++) {
			const led = (Math.floor(y / scale) * width + Math.floor(x / scale)) * 3;
			const distance = Math.hypot((x % scale) + 0.5 - scale / 2, (y % scale) + 0.5 - scale / 2);
			const cover = Math.min(1, Math.max(0, radius - distance + 0.5));
			const color = [...rgb.subarray(led, led + 3)].map((value) => Math.round(Math.max(value, 20) * cover));
			png.data.set([...color, 255], (y * png.width + x) * 4);
		}
	}
	return PNG.sync.write(png);
}

function unpackFront(bgr: Uint8Array): Screen {
	const rgb = new Uint8Array(72 * 16 * 3);
	for (let at = 0; at < rgb.length; at += 3) rgb.set([bgr[at + 2] ?? 0, bgr[at + 1] ?? 0, bgr[at] ?? 0], at);
	return { width: 72, height: 16, rgb };
}

function unpackBack(nibbles: Uint8Array): Screen {
	const rgb = new Uint8Array(160 * 80 * 3);
	for (let pixel = 0; pixel * 3 < rgb.length; pixel++) {
		const both = nibbles[pixel >> 1] ?? 0;
		const level = (pixel % 2 === 0 ? both & 15 : both >> 4) * 17;
		rgb.set([level, level, level], pixel * 3);
	}
	return { width: 160, height: 80, rgb };
}

async function get(url: string, token: string | undefined): Promise<string> {
	return await new Promise((resolve, reject) => {
		const headers = token === undefined ? {} : { "X-API-Token": token };
		const call = request(url, { agent: false, headers }, (response) => {
			let text = "";
			response.setEncoding("latin1");
			response.on("data", (chunk: string) => {
				text += chunk;
			});
			response.on("end", () => {
				if (response.statusCode === 200) resolve(text);
				else reject(new Error(`${url} answered ${response.statusCode}: ${text}`));
			});
			response.on("error", reject);
		});
		call.on("error", reject);
		call.end();
	});
}
