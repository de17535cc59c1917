package manifest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"open-cluster-management.io/interlock/pkg/files/regularfile"
	"open-cluster-management.io/interlock/pkg/offline/kustomization"
)

// FilesIn returns the manifests in a folder, or the path of a file itself. As kubectl does, it follows links to files, and does not
// follow links to folders below the folder. It leaves out folders for which skips returns true. skips may be nil.
func FilesIn(path string, skips func(folder string) (bool, error)) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []string{path}, regularfile.Check(path)
	}
	// With a separator at its end, a path that is a link leads to the folder itself.
	w := walker{root: path + string(filepath.Separator), skips: skips, targets: map[string]bool{}}
	err := filepath.WalkDir(w.root, w.visit)
	return w.files, err
}

// Sources returns the manifests in a folder, and the kustomizations, which are built instead of reading the other files in their folders.
// It leaves out folders for which skips returns true. skips may be nil.
func Sources(path string, skips func(folder string) (bool, error)) ([]string, []*kustomization.File, error) {
	var kustomizations []*kustomization.File
	files, err := FilesIn(path, func(folder string) (bool, error) {
		if skips != nil {
			if skip, err := skips(folder); skip || err != nil {
				return skip, err
			}
		}
		file, err := kustomization.Find(folder)
		if file != nil {
			kustomizations = append(kustomizations, file)
		}
		return file != nil, err
	})
	return files, kustomizations, err
}

// walker collects the manifests in a folder.
type walker struct {
	root  string
	skips func(folder string) (bool, error)
	files []string
	// targets has the files that were collected, without links.
	targets map[string]bool
}

func (w *walker) visit(path string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if entry.IsDir() {
		return w.visitFolder(path, entry.Name())
	}
	if !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) || !isFile(path, entry) {
		return nil
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		target = path // reading the file reports the error
	}
	if !w.targets[target] { // a link beside its target is no second add-on
		w.targets[target] = true
		w.files = append(w.files, path)
	}
	return nil
}

func (w *walker) visitFolder(path, name string) error {
	if strings.HasPrefix(name, "..") && path != w.root {
		return filepath.SkipDir // a mounted ConfigMap keeps its files there, and has links to them beside the folder
	}
	if w.skips == nil {
		return nil
	}
	skip, err := w.skips(filepath.Clean(path))
	if err == nil && skip {
		err = filepath.SkipDir
	}
	return err
}

// isFile reports whether an entry of a folder is a file, or a link to a file. A link that leads nowhere counts as a file, because reading
// it reports the error.
func isFile(path string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.Type().IsRegular()
	}
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular()
}
