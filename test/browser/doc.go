// Package browser tests the pages of kubectl addon in Chromium. It is a module of its own, so that the library that drives the browser is a
// requirement of nothing else. Without Chromium, its tests are skipped.
package browser
