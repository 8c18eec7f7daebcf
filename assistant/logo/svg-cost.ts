/** How many elements a renderer meets when it follows an SVG's references: `use`, gradients, patterns, masks, filters. */
import { attributesOf, childrenOf, type DomElement } from './svg-dom.ts';
import { ADDRESS_ATTRIBUTES, fragmentOf, fragmentsIn } from './svg-references.ts';

/** References of references: each adds a tree's depth to the walk below. */
const CHAIN_MAX = 16;

function targetsOf(element: DomElement): string[] {
  return attributesOf(element).flatMap(([name, value]) => {
    if (!ADDRESS_ATTRIBUTES.includes(name)) return fragmentsIn(value);
    const id = fragmentOf(value);
    return id === undefined ? [] : [id];
  });
}

class CostCounter {
  readonly #byId = new Map<string, DomElement>();
  readonly #known = new Map<DomElement, number>();
  readonly #open = new Set<DomElement>();
  #chain = 0;

  constructor(root: DomElement) {
    for (const element of [root, ...root.querySelectorAll('[id]')]) {
      const id = element.getAttribute('id');
      // When several elements share an id, the first one counts.
      if (id !== null && !this.#byId.has(id)) this.#byId.set(id, element);
    }
  }

  cost(element: DomElement): number {
    const known = this.#known.get(element);
    if (known !== undefined) return known;
    // An element that contains itself never ends.
    if (this.#open.has(element) || this.#chain > CHAIN_MAX) return Number.POSITIVE_INFINITY;
    this.#open.add(element);
    let sum = 1;
    for (const child of childrenOf(element)) sum += this.cost(child);
    this.#chain += 1;
    for (const id of targetsOf(element)) {
      const target = this.#byId.get(id);
      if (target !== undefined) sum += this.cost(target);
    }
    this.#chain -= 1;
    this.#open.delete(element);
    this.#known.set(element, sum);
    return sum;
  }
}

/** Elements drawn below `root` with every reference followed; Infinity when references go round in a circle or chain too far. */
export function costOf(root: DomElement): number {
  return new CostCounter(root).cost(root);
}
