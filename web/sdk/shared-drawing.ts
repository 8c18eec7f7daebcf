/**
 * What parts that are loaded later draw with: the same Preact as the rest. Two copies of it on a page would each have hooks of their own. Parts find
 * it by a symbol of this version (see bundle.mjs), because a classic script exports nothing.
 */
import { Component, Fragment } from 'preact';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { jsx, jsxs } from 'preact/jsx-runtime';
import { WEB_SDK_VERSION } from '../../protocol/runtime/web-sdk.ts';

/** By the name that `web/sdk/bundle.mjs` looks for. */
const NAME = `assistant-widget ${WEB_SDK_VERSION}`;

export function shareDrawing(): void {
  const shared = { Component, Fragment, jsx, jsxs, useEffect, useId, useLayoutEffect, useMemo, useRef, useState };
  (globalThis as unknown as Record<symbol, unknown>)[Symbol.for(NAME)] = shared;
}
