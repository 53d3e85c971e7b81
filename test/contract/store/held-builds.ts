import type { Store } from '@heddle/store'

/** A store whose contexts are read, and then built only after `goOn`. */
export function heldBuilds(store: Store) {
  const [read, released] = [signal(), signal()]
  const held: Store = {
    ...store,
    async inProject(projectId, work, options) {
      const result = await store.inProject(projectId, work, options)
      if (options?.snapshot === true) {
        read.give()
        await released.given
      }
      return result
    },
  }
  return { store: held, whenRead: read.given, goOn: released.give }
}

function signal() {
  let give = () => {}
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { given, give: () => give() }
}
