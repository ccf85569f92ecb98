/**
 * The firmware's run-length code for blocks of 1, 3 or 4 bytes. The low 7 bits of the first byte are a count: if the
 * high bit is set, so many blocks follow; if not, one block follows, to be repeated so many times. Pure.
 */

import { CommandError } from "../command-error.ts";

const maxCount = 127;

/** `source` must consist of whole blocks. */
export function compress(source: Uint8Array, blockBytes: number): Uint8Array {
	// A run of two single bytes saves nothing, and may split a group of different blocks in two.
	const shortestRun = blockBytes === 1 ? 3 : 2;
	const blocks = source.length / blockBytes;
	const out: number[] = [];
	let verbatimStart = 0;
	const flush = (end: number) => {
		for (let start = verbatimStart; start < end; start += maxCount) {
			const count = Math.min(maxCount, end - start);
			out.push(0x80 | count);
			for (const byte of source.subarray(start * blockBytes, (start + count) * blockBytes)) out.push(byte);
		}
	};
	for (let at = 0; at < blocks; ) {
		let run = 1;
		while (run < maxCount && at + run < blocks && equalBlocks(source, at, at + run, blockBytes)) run++;
		if (run >= shortestRun) {
			flush(at);
			out.push(run);
			for (const byte of source.subarray(at * blockBytes, (at + 1) * blockBytes)) out.push(byte);
			verbatimStart = at + run;
		}
		at += run;
	}
	flush(blocks);
	return Uint8Array.from(out);
}

function equalBlocks(source: Uint8Array, a: number, b: number, blockBytes: number): boolean {
	for (let index = 0; index < blockBytes; index++) {
		if (source[a * blockBytes + index] !== source[b * blockBytes + index]) return false;
	}
	return true;
}

/** @throws CommandError about `what`, unless `data` decodes to exactly `expectedBytes` */
export function decompress(data: Uint8Array, blockBytes: number, expectedBytes: number, what: string): Uint8Array {
	const out = new Uint8Array(expectedBytes);
	const fail = (why: string) => new CommandError(`the animation's ${what} is damaged: ${why}; create the file again.`);
	let to = 0;
	for (let from = 0; from < data.length; ) {
		const operation = data[from] ?? 0;
		const count = operation & 0x7f;
		const verbatim = operation >= 0x80;
		const block = data.subarray(from + 1, from + 1 + (verbatim ? count : 1) * blockBytes);
		if (count === 0) throw fail(`the count at byte ${from} is 0`);
		if (block.length < (verbatim ? count : 1) * blockBytes) throw fail(`it ends inside the group at byte ${from}`);
		if (to + count * blockBytes > expectedBytes) throw fail(`it decodes to more than ${expectedBytes} bytes`);
		for (let index = 0; index < (verbatim ? 1 : count); index++) out.set(block, to + index * blockBytes);
		to += count * blockBytes;
		from += 1 + block.length;
	}
	if (to !== expectedBytes) throw fail(`it decodes to ${to} bytes, not ${expectedBytes}`);
	return out;
}
