/** The screen of one extension's settings. A change applies and is saved at once. Draws in pi, and saves what it is told to. */

import { getSettingsListTheme } from "@earendil-works/pi-coding-agent";
import {
	Input,
	type TuiMouseEvent,
	type TuiMouseEventResult,
	truncateToWidth,
	visibleWidth,
} from "@earendil-works/pi-tui";
import type { PiExtensionSettings, SettingsInForce } from "../_shared/registry.ts";
import { confirmation } from "./confirmation.ts";
import { type Field, fieldsOf, nextChoice, shownValue, typedValue } from "./fields.ts";
import { column, FilterList, type ListRow } from "./filter-list.ts";
import type { Frame } from "./frame.ts";
import { detailLines, detailRowsOf, WIDE } from "./picker.ts";
import { messageOf } from "./plain-text.ts";
import type { Hint, Screen } from "./screen.ts";
import { secretLine } from "./secret-line.ts";

interface SettingRow extends ListRow {
	readonly field: Field;
}

const TITLE_COLUMNS_AT_MOST = 24;

export class SettingsScreen implements Screen {
	readonly #frame: Frame;
	readonly #settings: PiExtensionSettings;
	readonly #fields: readonly Field[];
	readonly #list: FilterList<SettingRow>;
	#inForce: SettingsInForce;
	/** What is being saved and will most likely hold. */
	#hoped: Readonly<Record<string, unknown>> = {};
	#saves: Promise<void> = Promise.resolve();
	#unfinishedSaves = 0;
	#editing: { readonly field: Field; readonly input: Input; readonly initial: string } | undefined;
	#focused = false;
	/** The group of the row drawn last. */
	#group: string | undefined;

	constructor(frame: Frame, settings: PiExtensionSettings, inForce: SettingsInForce) {
		this.#frame = frame;
		this.#settings = settings;
		this.#inForce = inForce;
		this.#fields = fieldsOf(settings.schema);
		this.#list = new FilterList(frame.host, (row, width, isSelected) => this.#drawRow(row, width, isSelected));
		this.#list.onChoose = () => this.#choose();
		this.#showValues();
	}

	get title(): string {
		return this.#editing ? this.#editing.field.title : "Settings";
	}

	get hints(): readonly Hint[] {
		if (this.#editing) {
			const { input, initial } = this.#editing;
			return [
				["tui.input.submit", input.getValue() === initial ? "keep" : "save"],
				["tui.select.cancel", "back"],
			];
		}
		return [
			["tui.select.confirm", "change"],
			["tui.select.cancel", "back"],
			["tui.editor.deleteCharForward", this.#list.selected?.field.kind === "secret" ? "remove" : "reset"],
		];
	}

	get focused(): boolean {
		return this.#focused;
	}

	set focused(focused: boolean) {
		this.#focused = focused;
		this.#list.input.focused = focused && !this.#editing;
		if (this.#editing) this.#editing.input.focused = focused;
	}

	handleInput(data: string): void {
		if (this.#editing) {
			this.#editing.input.handleInput(data);
			return;
		}
		const { keys } = this.#frame.host;
		const field = this.#list.selected?.field;
		if (keys.matches(data, "tui.select.confirm")) this.#choose();
		else if (keys.matches(data, "tui.select.cancel")) this.#frame.back();
		else if (keys.matches(data, "tui.editor.deleteCharForward")) {
			if (field) this.#reset(field);
		} else this.#list.handleInput(data);
	}

	handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
		return this.#editing ? undefined : this.#list.handleMouse(event);
	}

	get about(): string {
		const field = this.#field;
		if (!field) return "";
		const { group, title, description, rule } = field;
		const heading = `${group === "" ? "" : `${group} · `}${title}: ${shownValue(field, this.#valueOf(field))}`;
		const must = rule === "" ? "" : `Must be ${rule}.`;
		const parts = [heading, this.#keeps(field), this.#note(field), description, must, presetOf(field)];
		return parts.filter((part) => part !== "").join("\n");
	}

	get #field(): Field | undefined {
		return this.#editing?.field ?? this.#list.selected?.field;
	}

	render(width: number, rows: number): string[] {
		const field = this.#field;
		const detailRows = detailRowsOf(width, rows);
		const listRows = Math.max(1, Math.min(this.#fields.length, rows - 1 - detailRows));
		this.#group = undefined;
		const lines = this.#list.render(width, listRows, this.#editedLine(width));
		const detail = detailLines(this.#frame, field ? this.#detail(field, width) : "", width, detailRows);
		return [...lines, ...detail.map((line) => getSettingsListTheme().description(line))];
	}

	#drawRow({ field }: SettingRow, width: number, isSelected: boolean): string {
		const isFirstOfGroup = this.#group !== field.group;
		this.#group = field.group;
		const { label, value, description } = getSettingsListTheme();
		const groupWidth = width < WIDE - 4 ? 0 : this.#widest(({ group }) => group);
		const titleWidth = Math.min(
			TITLE_COLUMNS_AT_MOST,
			this.#widest(({ title }) => title),
			Math.floor(width / 2),
		);
		const group = groupWidth > 0 ? column(isFirstOfGroup ? field.group : "", groupWidth + 2) : "";
		const title = `${column(field.title, titleWidth)}  `;
		const room = width - visibleWidth(group) - visibleWidth(title);
		const shown = truncateToWidth(shownValue(field, this.#valueOf(field)), room, "…");
		return isSelected ? group + title + shown : description(group) + label(title, false) + value(shown, false);
	}

	#editedLine(width: number): string | undefined {
		if (!this.#editing) return undefined;
		const line = this.#editing.input.render(width)[0] ?? "";
		return this.#editing.field.kind === "secret" ? secretLine(line) : line;
	}

	#detail(field: Field, width: number): string {
		const { group, description, rule } = field;
		const must = this.#editing && rule !== "" ? `Must be ${rule}.` : "";
		const where = width < WIDE && group !== "" && !this.#editing ? `${group} · ` : "";
		const parts = [this.#keeps(field), must, this.#note(field), description, presetOf(field)];
		return where + parts.filter((part) => part !== "").join(" ");
	}

	#keeps(field: Field): string {
		const isSet = field.kind === "secret" && shownValue(field, this.#valueOf(field)) !== "not set";
		return isSet && this.#editing ? "Nothing typed keeps the one there is." : "";
	}

	#note({ name }: Field): string {
		return this.#inForce.notes[name] ?? "";
	}

	#choose(): void {
		const field = this.#list.selected?.field;
		if (!field) return;
		if (field.kind === "fixed") this.#frame.report(`${field.title} can be changed in its file only.`, "warning");
		else if (field.choices.length > 0) {
			const value = nextChoice(field, this.#valueOf(field));
			this.#hoped = { ...this.#hoped, [field.name]: value };
			this.#showValues();
			void this.#save(field, value);
		} else this.#edit(field);
	}

	#edit(field: Field): void {
		const input = new Input();
		const value = this.#valueOf(field);
		// As a paste, so that the cursor comes to stand behind it and no character of it is taken for a key.
		if (field.kind !== "secret" && value !== undefined) input.handleInput(`\x1b[200~${value}\x1b[201~`);
		const initial = input.getValue();
		const editing = { field, input, initial };
		const close = () => {
			if (this.#editing === editing) this.#editing = undefined;
			this.focused = this.#focused;
			this.#frame.changed();
		};
		input.onEscape = close;
		input.onSubmit = (typed) => {
			if (typed === initial) close();
			else void this.#submit(field, typed, close);
		};
		this.#editing = editing;
		this.focused = this.#focused;
	}

	async #submit(field: Field, typed: string, close: () => void): Promise<void> {
		try {
			const value = typedValue(field, typed);
			if (!(await this.#save(field, value))) return;
			close();
			this.#confirmValue(field);
		} catch (error) {
			this.#frame.report(messageOf(error), "warning");
		}
	}

	#reset(field: Field): void {
		const reset = async () => {
			if (await this.#save(field, undefined)) this.#confirmValue(field);
		};
		if (field.kind !== "secret") void reset();
		else if (shownValue(field, this.#valueOf(field)) === "not set") {
			this.#frame.report(`${field.title} is not set.`, "info");
		} else {
			const question = `Remove ${field.title}`;
			this.#frame.open(confirmation(this.#frame, question, "It has to be typed again to have it back.", reset));
		}
	}

	#confirmValue(field: Field): void {
		const value = shownValue(field, this.#valueOf(field));
		const state = field.kind !== "secret" ? `is ${value} now` : value === "not set" ? "is removed" : "is saved";
		this.#frame.report(`${field.title} ${state}.`, "info");
	}

	/** One after the other; a failure is reported, and what holds then is shown. Never rejects. */
	async #save(field: Field, value: unknown): Promise<boolean> {
		let isSaved = false;
		this.#unfinishedSaves++;
		this.#saves = this.#saves.then(async () => {
			try {
				this.#inForce = await this.#settings.save({ [field.name]: value });
				isSaved = true;
			} catch (error) {
				this.#frame.report(messageOf(error), "warning");
				await this.#reload();
			}
			this.#unfinishedSaves--;
			if (this.#unfinishedSaves === 0) this.#hoped = {};
			this.#showValues();
			this.#frame.changed();
		});
		await this.#saves;
		return isSaved;
	}

	async #reload(): Promise<void> {
		try {
			this.#inForce = await this.#settings.load();
		} catch {
			// The failed save was reported; what was known before is the best there is to show.
		}
	}

	#showValues(): void {
		this.#list.setRows(
			this.#fields.map((field) => ({
				id: field.name,
				label: field.title,
				keywords: [field.name, field.group, shownValue(field, this.#valueOf(field)), field.description].join(" "),
				field,
			})),
		);
	}

	#valueOf({ name }: Field): unknown {
		return name in this.#hoped ? this.#hoped[name] : this.#inForce.values[name];
	}

	#widest(text: (field: Field) => string): number {
		return Math.max(0, ...this.#fields.map((field) => visibleWidth(text(field))));
	}
}

function presetOf(field: Field): string {
	return field.kind === "secret" ? "" : `Default: ${shownValue(field, field.default)}.`;
}
