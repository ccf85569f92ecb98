/** The uploaded files of the bar, in memory, under `/ext/user_assets`. */

const UPLOADS = "/ext/user_assets";

export type ListedEntry =
	| { readonly type: "file"; readonly name: string; readonly size: number }
	| { readonly type: "dir"; readonly name: string };

export class Storage {
	readonly #files = new Map<string, Uint8Array>();

	read(path: string): Uint8Array | undefined {
		return this.#files.get(path);
	}

	/** An upload first deletes the old file, then appends what arrives: if it is aborted, it leaves a partial file. */
	truncate(path: string): void {
		this.#files.set(path, new Uint8Array());
	}

	append(path: string, bytes: Uint8Array): void {
		this.#files.set(path, Buffer.concat([this.#files.get(path) ?? new Uint8Array(), bytes]));
	}

	/** Undefined if there is no such folder. */
	list(folder: string): readonly ListedEntry[] | undefined {
		const prefix = `${folder.replace(/\/+$/, "")}/`;
		const entries = new Map<string, ListedEntry>();
		for (const [path, { length: size }] of this.#files) {
			if (!path.startsWith(prefix)) continue;
			const [name = "", ...deeper] = path.slice(prefix.length).split("/");
			entries.set(name, deeper.length > 0 ? { type: "dir", name } : { type: "file", name, size });
		}
		return entries.size > 0 ? [...entries.values()] : undefined;
	}
}

/** The path of an upload; undefined if the firmware (api_assets.c) does not accept the names. */
export function uploadPath(applicationName: string, file: string): string | undefined {
	if (!/^[A-Za-z0-9._-]{1,31}$/.test(applicationName) || /^\.+$/.test(applicationName)) return undefined;
	if (!/^[A-Za-z0-9._/-]{1,64}$/.test(file) || /^\/|\/$|\/\/|\.\./.test(file)) return undefined;
	return `${UPLOADS}/${applicationName}/${file}`;
}
