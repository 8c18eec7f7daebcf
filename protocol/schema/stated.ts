/**
 * What a rule of a schema is called in JSON Schema. Valibot's own actions are translated by its converter; a check of
 * ours carries its keywords with it, so that the rule and its published form stand in one place.
 */

export type Keywords = Readonly<Record<string, unknown>>;

const KEYWORDS = Symbol('keywords');

/**
 * `rule` (an action or a schema of valibot's) with the keywords that say the same. `{}` is for a rule that its
 * neighbours say already, or that JSON Schema has no words for: the description must tell then.
 */
export function stated<Rule extends object>(rule: Rule, keywords: Keywords): Rule {
  return Object.assign(rule, { [KEYWORDS]: keywords });
}

/** The keywords that `rule` was stated with; undefined when it was not. */
export function keywordsOf(rule: object): Keywords | undefined {
  return (rule as { readonly [KEYWORDS]?: Keywords })[KEYWORDS];
}

/** Keywords of a rule that holds under a condition: where `condition` fits, `consequence` must. */
export function when(condition: Keywords, consequence: Keywords): Keywords {
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word.
  return { allOf: [{ if: condition, then: consequence }] };
}
