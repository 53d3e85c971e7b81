/** The folder with the built files of the application: `index.html`, and `assets` whose names contain their hashes. */
export const siteFolder = new URL('../site/', import.meta.url)
