// Command binaries builds programs that are not Interlock's own from their Go
// modules, and shows its progress, because the first build takes minutes. Its
// arguments are names of sets. It skips a set that is up to date, and a set whose
// environment variable names a folder with the programs.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	bin := flag.String("bin", "bin", "folder to put the binaries into")
	kubernetesVersion := flag.String("kubernetes", "", "another version of Kubernetes than that of test/controlplane, such as 1.34.4")
	flag.Parse()
	available, folder, err := withKubernetes(*bin, *kubernetesVersion)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, name := range flag.Args() {
		if err := runSet(available, name, folder); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

func runSet(available []set, name, bin string) error {
	i := slices.IndexFunc(available, func(s set) bool { return s.name == name })
	if i < 0 {
		return fmt.Errorf("no such set; there are %s", strings.Join(setNames(available), ", "))
	}
	return available[i].run(bin, os.Getenv(available[i].assets))
}

func setNames(available []set) []string {
	names := make([]string, 0, len(available))
	for _, s := range available {
		names = append(names, s.name)
	}
	return names
}

// run builds the set, unless it is up to date, or assets is a folder with its programs.
func (s set) run(bin, assets string) error {
	if assets != "" {
		if err := s.present(assets); err != nil {
			return fmt.Errorf("%s is set to %s, but %w; put what is missing there, or unset it to build", s.assets, assets, err)
		}
		fmt.Printf("%s: using %s=%s\n", s.name, s.assets, assets)
		return nil
	}
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	dir := filepath.Join(bin, s.folder)
	fingerprint, err := s.fingerprint()
	if err != nil {
		return err
	}
	stamp := filepath.Join(bin, s.stampFile())
	if built, err := os.ReadFile(stamp); err == nil && string(built) == fingerprint && s.present(dir) == nil {
		fmt.Printf("%s: %s in %s are up to date\n", s.name, strings.Join(s.binaries(), ", "), dir)
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := s.build(dir); err != nil {
		return err
	}
	return os.WriteFile(stamp, []byte(fingerprint), 0o644)
}

// present returns an error unless the folder has all files of the set. The error lists the missing files.
func (s set) present(dir string) error {
	var missing []string
	for _, name := range append(s.binaries(), s.postBuildFolders...) {
		info, err := os.Stat(filepath.Join(dir, name))
		switch {
		case errors.Is(err, os.ErrNotExist):
			missing = append(missing, name)
		case err != nil:
			return err
		case info.IsDir() != slices.Contains(s.postBuildFolders, name) || info.Mode()&0o111 == 0:
			return fmt.Errorf("%s in it is no %s", name, s.kind(name))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("it has no %s", strings.Join(missing, " and no "))
	}
	return nil
}

func (s set) kind(name string) string {
	if slices.Contains(s.postBuildFolders, name) {
		return "folder"
	}
	return "executable file"
}
