package ocm

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("OCM", func() {
	It("runs", func() { Expect(true).To(BeTrue()) })
})
