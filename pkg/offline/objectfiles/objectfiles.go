// Package objectfiles reads the objects in the files and folders that users name, of which releases are made.
package objectfiles

import (
	"fmt"
	"io"
	"path/filepath"

	"open-cluster-management.io/interlock/pkg/files/fileerror"
	"open-cluster-management.io/interlock/pkg/files/regularfile"
	"open-cluster-management.io/interlock/pkg/offline/kustomization"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/text"
)

// Read reads all objects in files and folders. The path - is standard input. It builds the kustomizations in folders. It also returns
// a message for each file and object that it leaves out.
func Read(paths []string, stdin io.Reader) ([]manifest.Object, []string, error) {
	c := collector{stdin: stdin}
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
	objects []manifest.Object
	leftOut []string
}

// addPath adds the objects of a file or a folder. Of a folder with a kustomization, it reads no other file.
func (c *collector) addPath(path string) error {
	var kustomizations []*kustomization.File
	files, err := manifest.FilesIn(path, func(folder string) (bool, error) {
		file, err := kustomization.Find(folder)
		if file != nil {
			kustomizations = append(kustomizations, file)
		}
		return file != nil, err
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
			c.add(decoded)
		}
	}
	return nil
}

// add adds objects of clusters.
func (c *collector) add(objects []manifest.Object) {
	for _, object := range objects {
		if kustomization.IsKustomization(object.GetAPIVersion()) {
			c.leaveOut(object.Path, fmt.Sprintf("the %s of kustomize is no object of a cluster", text.Name(object.GetKind())))
			continue
		}
		c.objects = append(c.objects, object)
	}
}

func (c *collector) leaveOut(path, reason string) {
	c.leftOut = append(c.leftOut, fmt.Sprintf("left out: %s: %s", path, reason))
}
