package hubinstall

import (
	"archive/tar"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/random"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"
)

const chartFolder = "../../../deploy/charts/interlock"

// makeRelease writes the files of a release that kubectl addon hub needs, as hack/release does: the chart, archives of images, and
// checksums. It returns their folder, and the digests of the images by program.
func makeRelease(version string) (string, map[string]string) {
	GinkgoHelper()
	folder, digests := GinkgoT().TempDir(), map[string]string{}
	for _, program := range []string{"addon-manager", "addon-agent"} {
		index, err := random.Index(1000, 1, 2)
		Expect(err).NotTo(HaveOccurred())
		digest, err := index.Digest()
		Expect(err).NotTo(HaveOccurred())
		digests[program] = digest.String()
		writeImage(index, version, filepath.Join(folder, program+".tar"))
	}
	chart, err := loader.LoadDir(chartFolder)
	Expect(err).NotTo(HaveOccurred())
	chart.Metadata.Version, chart.Metadata.AppVersion = version, version
	chart.Metadata.Annotations = maps.Clone(chart.Metadata.Annotations)
	chart.Metadata.Annotations["interlock.open-cluster-management.io/image-prefix"] = "registry.invalid/interlock-"
	for program, digest := range digests {
		chart.Metadata.Annotations["interlock.open-cluster-management.io/"+program+"-digest"] = digest
	}
	_, err = util.Save(chart, folder)
	Expect(err).NotTo(HaveOccurred())
	writeChecksums(folder)
	return folder, digests
}

// writeImage writes an image layout as an archive, as hack/images does.
func writeImage(index v1.ImageIndex, version, archive string) {
	GinkgoHelper()
	folder := GinkgoT().TempDir()
	path, err := layout.Write(folder, empty.Index)
	Expect(err).NotTo(HaveOccurred())
	Expect(path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": version}))).To(Succeed())
	file, err := os.Create(archive)
	Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	writer := tar.NewWriter(file)
	Expect(filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := writer.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o644, Size: int64(len(content))}); err != nil {
			return err
		}
		_, err = writer.Write(content)
		return err
	})).To(Succeed())
	Expect(writer.Close()).To(Succeed())
}

func writeChecksums(folder string) {
	GinkgoHelper()
	entries, err := os.ReadDir(folder)
	Expect(err).NotTo(HaveOccurred())
	var sums strings.Builder
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		Expect(err).NotTo(HaveOccurred())
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), entry.Name())
	}
	Expect(os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(sums.String()), 0o600)).To(Succeed())
}
