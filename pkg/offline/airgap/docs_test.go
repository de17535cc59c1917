package airgap

import (
	"os"
	"strings"
	"testing"
)

func TestThePageHasWhatIsStored(t *testing.T) {
	page, err := os.ReadFile("../../../docs/air-gap.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		string(ConfigType), string(wishesType), string(lockType), string(releaseType),
		title, kindAnnotation, kindSigned, kindSignatures, referenceAnnotation,
		WishesFile, LockFile, DescriptionFile,
	} {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/air-gap.md does not have `%s`", name)
		}
	}
	for _, limit := range []string{"at most 16 MiB", "together 256 MiB"} {
		if !strings.Contains(string(page), limit) {
			t.Errorf("docs/air-gap.md does not say %q", limit)
		}
	}
}
