/** The files on the bar, in memory: the uploads under `/ext/user_assets`, and their folders as a listing shows them. */

const UPLOADS = "/ext/user_assets";
/** There without any upload; the stock files themselves are the vendor's and not part of the simulation. */
const FIXED_FOLDERS = [UPLOADS, "/ext/apps_assets/shared/animations", "/ext/apps_assets/shared/images"];

export interface StoredFile {
	readonly path: string;
	readonly size: number;
}

export type ListedEntry =
	| { readonly type: "file"; readonly name: string; readonly size: number }
	| { readonly type: "dir"; readonly name: string };

export class Storage {
	readonly #files = new Map<string, Uint8Array>();

	get files(): readonly StoredFile[] {
		return [...this.#files].map(([path, bytes]) => ({ path, size: bytes.length }));
	}

	read(path: string): Uint8Array | undefined {
		return this.#files.get(path);
	}

	/** An upload begins by deleting what was there, and grows as it arrives: cut off in the middle it leaves a part. */
	truncate(path: string): void {
		this.#files.set(path, new Uint8Array());
	}

	append(path: string, bytes: Uint8Array): void {
		this.#files.set(path, Buffer.concat([this.#files.get(path) ?? new Uint8Array(), bytes]));
	}

	/** The paths of everything an application has uploaded. */
	uploads(applicationName: string): readonly string[] {
		return [...this.#files.keys()].filter((path) => path.startsWith(`${UPLOADS}/${applicationName}/`));
	}

	remove(path: string): void {
		this.#files.delete(path);
	}

	/** Undefined if there is no such folder. */
	list(folder: string): readonly ListedEntry[] | undefined {
		const prefix = `${folder.replace(/\/+$/, "")}/`;
		const entries = new Map<string, ListedEntry>();
		for (const path of [...FIXED_FOLDERS.map((fixed) => `${fixed}/`), ...this.#files.keys()]) {
			if (!path.startsWith(prefix)) continue;
			const [name = "", ...deeper] = path.slice(prefix.length).split("/");
			if (name === "") continue;
			const size = this.#files.get(path)?.length ?? 0;
			entries.set(name, deeper.length > 0 ? { type: "dir", name } : { type: "file", name, size });
		}
		const exists = entries.size > 0 || FIXED_FOLDERS.includes(prefix.slice(0, -1));
		return exists ? [...entries.values()] : undefined;
	}
}

/** The path of an upload, or undefined where the firmware's name checks (api_assets.c) say no. */
export function uploadPath(applicationName: string, file: string): string | undefined {
	if (!isUploadOwner(applicationName)) return undefined;
	if (!/^[A-Za-z0-9._/-]{1,64}$/.test(file) || /^\/|\/$|\/\/|\.\./.test(file)) return undefined;
	return `${UPLOADS}/${applicationName}/${file}`;
}

export function isUploadOwner(applicationName: string): boolean {
	return /^[A-Za-z0-9._-]{1,31}$/.test(applicationName) && !/^\.+$/.test(applicationName);
}
