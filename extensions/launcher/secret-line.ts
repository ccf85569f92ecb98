/** The line of an Input whose text must not be seen: pi's Input has no mask. Pure. */

// What Input puts around the cursor: colours, and pi's own cursor marks.
const SEQUENCE = /(\x1b\[[0-9;]*m|\x1b_[^\x07]*\x07)/;
const PROMPT = "> ";

/**
 * Dots instead of every character of the rendered line `> text`; padding and a cursor at the end stay spaces.
 * What is not known for certain to be no text becomes a dot.
 */
export function secretLine(rendered: string): string {
	const parts = rendered.slice(PROMPT.length).split(SEQUENCE);
	const masked = parts.map((part, index) => {
		if (index % 2 === 1) return part;
		const isCursorAtEnd =
			part === " " && parts.slice(index + 1).every((later) => !/\S/.test(later.replace(SEQUENCE, "")));
		if (isCursorAtEnd) return part;
		const isLast = index === parts.length - 1;
		const text = isLast ? part.trimEnd() : part;
		return text.replaceAll(/./gsu, "•") + (isLast ? part.slice(text.length) : "");
	});
	return PROMPT + masked.join("");
}
