import Testing

/// All tests of the executable. Each starts processes, some of which have timeouts.
@Suite("essentials", .timeLimit(.minutes(5)))
enum ToolTests {}
