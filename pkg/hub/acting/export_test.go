package acting

// Changes is what enqueues add-ons that change, for tests.
var Changes = changes
