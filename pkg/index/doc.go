// Package index has the files of offline resolution: a folder with the releases of add-ons, what users want of them, and
// what was chosen.
package index
