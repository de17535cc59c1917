// Package objectfiles reads the objects in the files and folders that users name, of which releases are made.
package objectfiles

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"open-cluster-management.io/interlock/pkg/files/fileerror"
	"open-cluster-management.io/interlock/pkg/files/regularfile"
	"open-cluster-management.io/interlock/pkg/offline/kustomization"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
)

// Read reads all objects in files and folders. The path - is standard input. It builds the kustomizations in folders. It also returns
// a message for each file and object that it leaves out. index is the folder of an index that is written, and may be empty. It is not read:
// a release would have the former releases in it.
func Read(paths []string, stdin io.Reader, index string) ([]manifest.Object, []string, error) {
	c := collector{stdin: stdin, index: index}
	for _, path := range paths {
		if err := c.addPath(path); err != nil {
			return nil, nil, err
		}
	}
	return c.objects, c.leftOut, nil
}

// collector collects the objects in files and folders.
type collector struct {
	stdin   io.Reader
	index   string
	objects []manifest.Object
	leftOut []string
}

// addPath adds the objects of a file or a folder. Of a folder with a kustomization, it reads no other file.
func (c *collector) addPath(path string) error {
	files, kustomizations, err := manifest.Sources(path, func(folder string) (bool, error) {
		if c.isIndex(folder, path) {
			c.leaveOut(folder, "the index is written there")
			return true, nil
		}
		if isChart(folder) {
			return true, fmt.Errorf("%s is a Helm chart: kubectl addon index build --chart %s reads it", folder, folder)
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	if err := c.addFiles(files); err != nil {
		return err
	}
	return c.build(kustomizations)
}

func (c *collector) addFiles(files []string) error {
	for _, path := range files {
		content, err := regularfile.ReadAll(path, c.stdin)
		if err != nil {
			return err
		}
		file := fileerror.Name(path)
		if kustomization.IsFile(file, content) {
			c.leaveOut(file, "name its folder, and it is built by kustomize")
			continue
		}
		decoded, err := manifest.Decode(file, content)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		c.add(decoded)
	}
	return nil
}

// build adds the objects that kustomizations give.
func (c *collector) build(kustomizations []*kustomization.File) error {
	for _, file := range kustomizations {
		if file.Component {
			c.leaveOut(filepath.Dir(file.Path), "it is a Component of kustomize, which is built where a kustomization names it")
			continue
		}
		built, err := kustomization.Build(filepath.Dir(file.Path))
		if err != nil {
			return err
		}
		for _, object := range built {
			content, err := object.MarshalJSON()
			if err != nil {
				return err
			}
			decoded, err := manifest.Decode(file.Path, content)
			if err != nil {
				return fmt.Errorf("%s: %w", file.Path, err)
			}
			for i := range decoded {
				decoded[i] = decoded[i].WithoutLines()
			}
			c.add(decoded)
		}
	}
	return nil
}

// add adds objects of clusters.
func (c *collector) add(objects []manifest.Object) {
	kept, messages := WithoutFileKinds(objects)
	c.objects, c.leftOut = append(c.objects, kept...), append(c.leftOut, messages...)
}

// isIndex reports whether a folder below a path is the index, or the folder with its releases. An index in the folder of the sources
// themselves only has the latter for itself.
func (c *collector) isIndex(folder, path string) bool {
	if c.index == "" {
		return false
	}
	return isSame(folder, filepath.Join(c.index, "addons")) || isSame(folder, c.index) && !isSame(folder, path)
}

// isChart reports whether a folder has a Helm chart. Its templates are no objects yet.
func isChart(folder string) bool {
	info, err := os.Stat(filepath.Join(folder, "Chart.yaml"))
	return err == nil && info.Mode().IsRegular()
}

// isSame reports whether two paths lead to the same folder.
func isSame(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

func (c *collector) leaveOut(path, reason string) {
	c.leftOut = append(c.leftOut, leftOut(path, reason))
}
