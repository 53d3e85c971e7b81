import { useSyncExternalStore } from 'react'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const STORED_AS = 'heddle-theme'
const listeners = new Set<() => void>()

function storedTheme(): Theme {
  return themes.find((theme) => theme === localStorage.getItem(STORED_AS)) ?? 'system'
}

function apply(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

export const startTheme = () => apply(storedTheme())

export function setTheme(theme: Theme): void {
  localStorage.setItem(STORED_AS, theme)
  apply(theme)
  for (const listener of listeners) listener()
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, storedTheme)
}
