#!/usr/bin/env bash
# Lists the folders of the Go modules of the repository, without those that tests of hack/images compile.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A file that is not committed yet counts, and one in bin/ does not.
git ls-files --cached --others --exclude-standard -- go.mod '*/go.mod' ':!hack/images/testdata' |
  while read -r file; do if [ -e "$file" ]; then dirname "$file"; fi; done
