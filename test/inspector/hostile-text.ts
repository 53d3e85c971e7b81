/** Text that would run, load or link if a page took it for more than text, and that reverses or hides what follows it. */
export const HOSTILE = [
  '<script>document.title = "ran"</script><img src=x onerror="document.title=\'ran\'">',
  '<svg onload="document.title=\'ran\'"></svg> [link](javascript:alert(1)) https://elsewhere.example/x.png',
  '\u202Ereversed\u202C \u001b[31mred\u001b[0m \ud800',
].join('\n')
