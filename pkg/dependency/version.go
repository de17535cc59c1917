package dependency

// anyVersion is the range that accepts every version, known or not.
const anyVersion = "*"
