#!/bin/sh
# A release must not be able to weaken a seal: no_switches.sh BELLJAR MUTATION_TEST. Looks for the switches by name in both
# programs; that the test build has them shows that they would be found.
names='switch_off_in_sandbox|switch_off_in_call|add_own_environment|nonce_in|remove_control|change_root|remove_masks|switch_off_in_gates|furnish_network_of'
has_switches() { nm -C "$1" 2>/dev/null | grep -Eq "$names" || strings -n 6 "$1" | grep -Eq "$names"; }
if ! has_switches "$2"; then
  echo "the switches were not even found in the test build: is it stripped, or were they renamed?"
  exit 1
fi
if has_switches "$1"; then
  echo "the release has a switch that weakens the seal:"
  nm -C "$1" 2>/dev/null | grep -E "$names"
  exit 1
fi
echo "no switch in $1"
