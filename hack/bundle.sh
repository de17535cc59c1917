#!/usr/bin/env bash
# Bundles the page of kubectl addon ui with esbuild, from its sources and the vendored packages. It needs nothing but Go.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

app=$PWD/pkg/report/console/app static=$PWD/pkg/report/console/static
# The licenses require their texts in each copy.
licenses=$(for file in "$app"/vendored/*/LICENSE; do basename "$(dirname "$file")"; echo; cat "$file"; echo; done)
cd hack/tools/esbuild # so that the paths in comments of the bundle do not depend on the folder of the repository
esbuild=(go tool esbuild --bundle --minify --charset=utf8 --log-level=warning)
"${esbuild[@]}" "$app/main.jsx" --format=iife --target=es2022 --legal-comments=none "--banner:js=/* This file contains these packages:"$'\n\n'"$licenses"$'\n'"*/" "--tsconfig=$app/tsconfig.json" "--outfile=$static/app.js"
"${esbuild[@]}" "$app/app.css" "--outfile=$static/app.css"
