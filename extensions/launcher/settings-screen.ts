/** The screen of one extension's settings. Draws in pi, and saves each change at once through the extension. */

import { Input, type TuiMouseEvent, type TuiMouseEventResult, visibleWidth } from "@earendil-works/pi-tui";
import type { PiExtensionSettings, SettingsInForce } from "../_shared/registry.ts";
import { confirmation } from "./confirmation.ts";
import { type Field, fieldsOf, isEmpty, nextChoice, shownValue, typedValue } from "./fields.ts";
import { FilterList, WIDE } from "./filter-list.ts";
import { column, cut } from "./fit.ts";
import type { Frame } from "./frame.ts";
import { messageOf } from "./plain-text.ts";
import type { Hint, Screen } from "./screen.ts";

const TITLE_COLUMNS_AT_MOST = 24;

export class SettingsScreen implements Screen {
	readonly #frame: Frame;
	readonly #settings: PiExtensionSettings;
	readonly #groupWidth: number;
	readonly #titleWidth: number;
	readonly #list: FilterList<Field>;
	#inForce: SettingsInForce;
	/** Values that are being saved, shown as if they were saved already. */
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
		const fields = fieldsOf(settings.schema);
		this.#groupWidth = Math.max(0, ...fields.map(({ group }) => visibleWidth(group)));
		this.#titleWidth = Math.min(TITLE_COLUMNS_AT_MOST, Math.max(0, ...fields.map(({ title }) => visibleWidth(title))));
		this.#list = new FilterList(frame.host, fields, {
			label: ({ title }) => title,
			keywords: (field) => [field.name, field.group, this.#shown(field), field.description].join(" "),
			draw: (field, width, isSelected) => this.#drawRow(field, width, isSelected),
			detail: (field, width) => this.#detail(field, width),
		});
		this.#list.onChoose = () => this.#choose();
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
			["tui.editor.deleteCharForward", this.#list.selected?.kind === "secret" ? "remove" : "reset"],
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

	get about(): string {
		const field = this.#editing?.field ?? this.#list.selected;
		if (!field) return "";
		const { group, title, description, rule } = field;
		const heading = `${group === "" ? "" : `${group} · `}${title}: ${this.#shown(field)}`;
		return joined("\n", [heading, this.#keeps(field), this.#note(field), description, mustBe(rule), presetOf(field)]);
	}

	handleInput(data: string): void {
		if (this.#editing) {
			this.#editing.input.handleInput(data);
			return;
		}
		const { keys } = this.#frame.host;
		const field = this.#list.selected;
		if (keys.matches(data, "tui.select.confirm")) this.#choose();
		else if (keys.matches(data, "tui.select.cancel")) this.#frame.back();
		else if (keys.matches(data, "tui.editor.deleteCharForward")) {
			if (field) this.#reset(field);
		} else this.#list.handleInput(data);
	}

	handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
		return this.#editing ? undefined : this.#list.handleMouse(event);
	}

	render(width: number, rows: number): string[] {
		this.#group = undefined;
		return this.#list.render(width, rows, this.#editedLine(width));
	}

	#drawRow(field: Field, width: number, isSelected: boolean): string {
		const { theme } = this.#frame.host;
		const isFirstOfGroup = this.#group !== field.group;
		this.#group = field.group;
		const hasGroups = width >= WIDE && this.#groupWidth > 0;
		const group = hasGroups ? column(isFirstOfGroup ? field.group : "", this.#groupWidth + 2) : "";
		const title = `${column(field.title, Math.min(this.#titleWidth, Math.floor(width / 2)))}  `;
		const value = cut(this.#shown(field), width - visibleWidth(group + title));
		return isSelected ? group + title + value : theme.fg("dim", group) + title + theme.fg("muted", value);
	}

	#editedLine(width: number): string | undefined {
		if (!this.#editing) return undefined;
		const { field, input } = this.#editing;
		const typed = input.getValue();
		// pi's Input cannot mask its text. With the same number of dots its cursor stays in place.
		if (field.kind === "secret") input.setValue("•".repeat(typed.length));
		const [line = ""] = input.render(width);
		input.setValue(typed);
		return line;
	}

	#detail(field: Field, width: number): string {
		const { group, description, rule } = field;
		const where = width < WIDE && group !== "" && !this.#editing ? `${group} · ` : "";
		const must = this.#editing ? mustBe(rule) : "";
		return where + joined(" ", [this.#keeps(field), must, this.#note(field), description, presetOf(field)]);
	}

	#keeps(field: Field): string {
		const isSet = field.kind === "secret" && !isEmpty(this.#valueOf(field));
		return isSet && this.#editing ? "Leave this empty to keep the current value." : "";
	}

	#note({ name }: Field): string {
		return this.#inForce.notes[name] ?? "";
	}

	#choose(): void {
		const field = this.#list.selected;
		if (!field) return;
		if (field.kind === "fixed")
			this.#frame.report(`${field.title} cannot be changed here. Change it in the settings file.`, "warning");
		else if (field.choices.length > 0) {
			const value = nextChoice(field, this.#valueOf(field));
			this.#hoped = { ...this.#hoped, [field.name]: value };
			this.#list.refresh();
			void this.#save(field, value);
		} else this.#edit(field);
	}

	#edit(field: Field): void {
		const input = new Input();
		const value = this.#valueOf(field);
		// As a paste: this puts the cursor at the end, and no character is taken for a key.
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
		else if (isEmpty(this.#valueOf(field))) this.#frame.report(`${field.title} is not set.`, "info");
		else {
			const question = `Remove ${field.title}`;
			this.#frame.open(confirmation(this.#frame, question, "You will have to type it in to use it again.", reset));
		}
	}

	#confirmValue(field: Field): void {
		const isRemoved = isEmpty(this.#valueOf(field));
		const state = field.kind !== "secret" ? `set to ${this.#shown(field)}` : isRemoved ? "removed" : "saved";
		this.#frame.report(`${field.title} ${state}.`, "info");
	}

	/** Saves one value at a time. After a failure, says why and shows the values in force. Never rejects. */
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
			this.#list.refresh();
			this.#frame.changed();
		});
		await this.#saves;
		return isSaved;
	}

	async #reload(): Promise<void> {
		try {
			this.#inForce = await this.#settings.load();
		} catch {
			// The user has been told that saving failed. What was known before is the best we can show.
		}
	}

	#valueOf({ name }: Field): unknown {
		return name in this.#hoped ? this.#hoped[name] : this.#inForce.values[name];
	}

	#shown(field: Field): string {
		return shownValue(field, this.#valueOf(field));
	}
}

function mustBe(rule: string): string {
	return rule === "" ? "" : `Must be ${rule}.`;
}

function presetOf(field: Field): string {
	return field.kind === "secret" ? "" : `Default: ${shownValue(field, field.default)}.`;
}

function joined(separator: string, sentences: readonly string[]): string {
	return sentences.filter((sentence) => sentence !== "").join(separator);
}
