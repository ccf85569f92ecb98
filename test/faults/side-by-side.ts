// Rows that mostly wait are run several at a time.

/** Gives each item to `run`, at most `atATime` of them at once, in their order; resolves to what came of them, in theirs. */
export async function sideBySide<T, R>(
	items: readonly T[],
	atATime: number,
	run: (item: T) => Promise<R>,
): Promise<readonly R[]> {
	const results: R[] = [];
	const left = items.entries();
	const lane = async () => {
		for (const [index, item] of left) results[index] = await run(item);
	};
	await Promise.all(Array.from({ length: atATime }, lane));
	return results;
}
