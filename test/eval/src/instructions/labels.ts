/**
 * The judgement of a person who read two hundred messages of people in the recorded conversations: whether a message says
 * how its speaker wants things in general. Only ids are stored here. All messages that the rules of core find are among
 * them; the others were drawn by a hash of their ids, most of them among those with a word such as "always" or "please".
 */
export const instructions: readonly string[] = [
  ...within('beam 1', '34 54 66 110 114 178 184 182'),
  ...within('beam 3', '36 54 118 122 186'),
  ...within('beam 5', '60 64 132 150 224 232 234 108'),
  ...within('beam 7', '40 50 94 112 146 160 208 242 256'),
]

/** Messages about one request, habits and advice, and any others. */
export const others: readonly string[] = [
  ...within('beam 1', '108 152 186 58 74'),
  ...within('beam 3', '102 120 184 190 56 92'),
  ...within('beam 5', '130 134 236 10 66 80'),
  ...within('beam 7', '114 158 162 194 210 238 252 254 52 92'),
  ...within('coding 2a-075ef186b4-0', '0'),
  ...within('coding 9f-d2fc39aa5f-0', '0'),
  ...within('coding cc-90f6622c5b-1', '328 396 470'),
  ...within('coding d0-161e0df1cb-0', '294'),
  ...within(
    'locomo 1',
    'D10:10 D10:12 D10:14 D10:20 D12:14 D12:15 D15:23 D16:10 D17:17 D17:18 D17:23 D17:24 D18:21 D19:12 D12:8 D13:7 D17:5 D7:16 D8:12 D10:11 D10:13 D10:15 D10:16 D10:17 D10:18 D10:19 D10:21 D10:22 D10:23 D10:24 D11:10 D11:11 D11:12 D11:13 D11:14 D11:15 D11:16 D11:17 D12:10 D12:11 D12:12 D12:13 D12:16 D12:17 D12:18 D12:19 D12:20 D12:21',
  ),
  ...within(
    'locomo 2',
    'D27:15 D12:23 D13:12 D13:19 D15:20 D15:22 D15:24 D15:32 D16:12 D19:14 D20:12 D21:14 D26:35 D26:38 D27:21 D27:30 D27:34 D11:8 D12:6 D12:8 D15:7 D16:9 D17:2 D17:8 D21:1 D21:9 D22:9 D25:6 D27:8 D2:13 D2:18 D3:15 D3:22 D6:13 D7:10 D7:15 D8:22 D8:24 D9:10',
  ),
  ...within('tau 10', '31'),
  ...within('tau 11', '19 27 31'),
  ...within('tau 12', '15'),
  ...within('tau 13', '15 23 49'),
  ...within('tau 14', '21 23'),
  ...within('tau 15', '15 25'),
  ...within('tau 17', '31 33'),
  ...within('tau 19', '19 23'),
  ...within('tau 20', '15 19'),
  ...within('tau 21', '17 25'),
  ...within('tau 22', '19'),
  ...within('tau 23', '25'),
  ...within('tau 24', '17'),
  ...within('tau 25', '19 25 27'),
  ...within('tau 26', '11 21 27'),
  ...within('tau 27', '13 17 23 27 33'),
  ...within('tau 28', '31 33'),
  ...within('tau 30', '21 23'),
  ...within('tau 31', '31'),
  ...within('tau 32', '11 19'),
  ...within('tau 33', '21 47 53'),
  ...within('tau 35', '11'),
  ...within('tau 36', '11 17 21'),
  ...within('tau 8', '1 9'),
]

/** Ids of messages: the conversation, and the id or the index of the message in it. */
function within(conversation: string, messages: string): string[] {
  return messages.split(' ').map((message) => `${conversation}#${message}`)
}
