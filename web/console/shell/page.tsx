/** The frame of a page: the bar with the way to it, its title, its facts. Says the title to the window, and takes the focus after a navigation. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { NavigationButton } from './navigation-button.tsx';
import { PaletteButton } from './palette-button.tsx';

export interface Crumb {
  readonly label: string;
  readonly href: string;
}

export interface PageProps {
  readonly title: string;
  /** The pages above it, the highest first. */
  readonly crumbs?: readonly Crumb[];
  readonly facts?: ComponentChildren;
  /** Beside the title: what state the thing is in. */
  readonly state?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly fills?: boolean;
  readonly children: ComponentChildren;
}

/** The first page keeps the focus where the browser has it; later ones were navigated to. */
let wasPageShown = false;

export function Page({ title, crumbs = [], facts, state, actions, fills = false, children }: PageProps) {
  const { path } = useLocation();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Console`;
  }, [title]);
  useEffect(() => {
    if (wasPageShown) heading.current?.focus({ preventScroll: true });
    wasPageShown = true;
  }, [path]);
  return (
    <>
      <header class="bar">
        <NavigationButton />
        <nav class="crumbs" aria-label="Where this page is">
          {crumbs.map(({ label, href }) => (
            <span key={href}>
              <a href={href}>{label}</a>
              <span aria-hidden="true"> / </span>
            </span>
          ))}
          <span aria-current="page">{title}</span>
        </nav>
        <PaletteButton />
      </header>
      <main id="main" class={fills ? 'page fills' : 'page'}>
        <div class="page-head">
          <div class="page-title">
            <h1 ref={heading} tabIndex={-1}>
              {title}
            </h1>
            {state}
          </div>
          {actions !== undefined && <div class="page-actions">{actions}</div>}
        </div>
        {facts !== undefined && <p class="facts">{facts}</p>}
        {children}
      </main>
    </>
  );
}
