# The functions of a bash context. It is an interactive bash without a terminal, so that an interrupt ends what runs and not
# the shell. The engine writes three lines to its input for each execution:
#
#   __belljar_begin NONCE 'NAME=value'...; eval 'the code' </dev/null 3>&-
#   __belljar_end
#   __belljar_end
#
# The second end is for the first one's interrupt: bash acts on an interrupt once more when it finds that a program died
# of it, and if that is late, it gives up the line after the code.
#
# Answers go to descriptor 3, as frames: u32 little-endian length, one byte of type, JSON.

PS1= PS2= PS4='+ '
unset PROMPT_COMMAND HISTFILE
set +o history +H
shopt -u checkwinsize 2>/dev/null
__belljar_count=0
__belljar_nonce=
declare -A __belljar_saved

__belljar_send() {
  local LC_ALL=C bytes
  bytes=${#1}
  printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $((bytes & 255)) $((bytes >> 8 & 255)) $((bytes >> 16 & 255)) 0)J%s" "$1" >&3
}

# Variables of this execution only; what they were is kept until its end. $? of the code before is its to see.
__belljar_begin() {
  local last=$? pair name
  __belljar_nonce=$1
  shift
  __belljar_count=$((__belljar_count + 1))
  __belljar_saved=()
  for pair in "$@"; do
    name=${pair%%=*}
    if [[ -v $name ]]; then __belljar_saved[$name]==${!name}; else __belljar_saved[$name]=; fi
    export "$pair"
  done
  __belljar_send "{\"op\":\"count\",\"nonce\":\"$__belljar_nonce\",\"count\":$__belljar_count}"
  return "${__belljar_last:-$last}"
}

__belljar_end() {
  local status=$? name
  [[ -n $__belljar_nonce ]] || return "$status"
  for name in "${!__belljar_saved[@]}"; do
    if [[ -n ${__belljar_saved[$name]} ]]; then export "$name=${__belljar_saved[$name]#=}"; else unset "$name"; fi
  done
  __belljar_last=$status
  __belljar_send "{\"op\":\"done\",\"nonce\":\"$__belljar_nonce\",\"status\":$status}"
  __belljar_nonce=
}

__belljar_send "{\"op\":\"ready\",\"pid\":$$}"
