/** Code in colours, loaded with the first code that is shown. The grammars give a tree, and the tree becomes elements: no markup is made of text. */
import bash from 'highlight.js/lib/languages/bash';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import dart from 'highlight.js/lib/languages/dart';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import type { ComponentChildren } from 'preact';

const lowlight = createLowlight({
  bash,
  csharp,
  css,
  dart,
  diff,
  go,
  java,
  javascript,
  json,
  kotlin,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
});

type Tree = ReturnType<typeof lowlight.highlight>['children'][number];

function elementsOf(nodes: readonly Tree[]): ComponentChildren {
  return nodes.map((node, at) => {
    if (node.type === 'text') return node.value;
    if (node.type !== 'element') return null;
    const { className } = node.properties;
    return (
      <span key={at} class={Array.isArray(className) ? className.join(' ') : ''}>
        {elementsOf(node.children as readonly Tree[])}
      </span>
    );
  });
}

export function CodeColours({ language, code }: { readonly language: string; readonly code: string }) {
  const name = language.toLowerCase();
  if (!lowlight.registered(name)) return <>{code}</>;
  return <>{elementsOf(lowlight.highlight(name, code).children)}</>;
}
