// Package index reads and writes the files of offline resolution: the index, a folder with the releases of add-ons, the wishes of
// users, and the lock with the chosen releases.
package index
