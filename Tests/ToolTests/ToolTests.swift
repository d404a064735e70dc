import Testing

/// All tests of the executable, one after the other: each runs processes, and some have deadlines.
@Suite("essentials", .serialized, .timeLimit(.minutes(5)))
enum ToolTests {}
