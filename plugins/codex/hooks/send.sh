#!/bin/sh
# Sends an event of an agent, from standard input, to Heddle, and prints the answer. curl starts in a tenth of the time of Node,
# so it carries what is answered at once. Everything else is left to `send.mjs`, with the same event: a gateway that is
# away, an answer other than 200, events that wait. What is sent twice is recorded once.
#
# Arguments: the agent, `claude-code` or `codex`, and the longest wait for an answer in seconds (3.5).

agent=$1
wait_seconds=${2:-3.5}
case $agent in
  codex) folder=$PLUGIN_DATA ;;
  *) folder=$CLAUDE_PLUGIN_DATA ;;
esac
: "${folder:=$HOME/.heddle/hooks/$agent}"

event=$(cat)

leave_to_node() { # SECONDS that have passed
  printf '%s' "$event" | HEDDLE_HOOK_SPENT_SECONDS=$1 node "${0%/*}/send.mjs"
  exit
}

# Events that were kept, whoever kept them, or a session that is away or was refused: the name of its file is its id. Both agents
# write the id first; a search for it further on would take dash seconds for a long event.
case $event in
  '{"session_id":"'*) session=${event#'{"session_id":"'} ;;
  *) session='*' ;;
esac
session=${session%%\"*}
case $session in
  '' | *[!A-Za-z0-9-]*) session='*' ;;
esac
for state in "$folder"/*/*.jsonl "$folder"/*/$session.json; do
  if [ -e "$state" ]; then leave_to_node 0; fi
done

address=${HEDDLE_URL:-http://127.0.0.1:4680}
while [ "$address" != "${address%/}" ]; do address=${address%/}; done
# Other processes can read arguments, so an address with a password is not one of curl. One without a scheme is no address for Node.
case $address in
  *@*) leave_to_node 0 ;;
  http://* | https://*) ;;
  *) leave_to_node 0 ;;
esac

# Neither settings of the user nor a proxy may stand between. The key is in a file, for the same reason.
send() {
  printf '%s' "$event" | LC_ALL=C curl --disable --silent --globoff --noproxy '*' --proto '=http,https' \
    --connect-timeout 1 --max-time "$wait_seconds" --header 'content-type: application/json' --header 'expect:' "$@" \
    --data-binary @- --write-out '\n%{time_total} %{http_code}' \
    --url "$address/v1/hooks/$agent$HEDDLE_HOOK_QUERY"
}
is_whole=yes
if [ -n "$HEDDLE_KEY" ]; then
  answer=$(send --header @/dev/fd/3 3<<KEY
x-heddle-key: $HEDDLE_KEY
KEY
  ) 2>/dev/null || is_whole=no
else
  answer=$(send) 2>/dev/null || is_whole=no
fi

outcome=${answer##*
}
# An answer that broke off has a status, too.
if [ "$is_whole ${outcome#* }" != 'yes 200' ]; then leave_to_node "${outcome% *}"; fi
body=${answer%
*}
if [ "$body" != '{}' ]; then printf '%s' "$body"; fi
