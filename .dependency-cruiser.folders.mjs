import check from './.dependency-cruiser.mjs'

/*
 * The folders of the rules stand in an order: what is below knows nothing of what is above. Apart from the other rules, since
 * tests look at folders above their own, and must be left out here.
 */
export default {
  forbidden: [
    {
      name: 'no-circles-of-folders',
      severity: 'error',
      scope: 'folder',
      from: { path: '^packages/core/src/.' },
      to: { circular: true },
    },
  ],
  options: { ...check.options, exclude: { path: ['(^|/)dist/', '\\.test\\.ts$'] } },
}
