#!/usr/bin/env bash
# Refuse every job on a GPU runner but those of the workflows listed beside this file.
#
# GitHub's runner starts this before each job when ACTIONS_RUNNER_HOOK_JOB_STARTED names it (in the
# runner's .env); a status other than 0 ends the job before its first step. It is the fence that
# holds when a workflow is wrong: a pull request can add a workflow of its own that asks for this
# runner's labels. See docs/runners.md.
#
# `allowed-workflows` holds one workflow a line, as GITHUB_WORKFLOW_REF has it:
#   octo/kernels/.github/workflows/optiml-gpu.yml@refs/heads/main
set -u
shopt -u nocasematch

refuse() {
  # Nothing a stranger chose is printed: the log is read for commands.
  printf 'This GPU runner refuses the job: %s\n' "$1" >&2
  exit 1
}

list=${BASH_SOURCE[0]%/*}/allowed-workflows
[[ ${GITHUB_EVENT_NAME:-} == workflow_dispatch ]] ||
  refuse 'it was not started by workflow_dispatch. Pull requests never run here.'
[[ -r $list ]] || refuse "there is no $list"

while IFS= read -r line || [[ -n $line ]]; do
  line=${line%%#*}
  line=${line//[[:space:]]/}
  if [[ -n $line && $line == "${GITHUB_WORKFLOW_REF:-}" ]]; then
    exit 0
  fi
done <"$list"
refuse "its workflow is not in $list"
