import Testing

/// All tests of the executable. They run one after another, because each starts processes and some have timeouts.
@Suite("essentials", .serialized, .timeLimit(.minutes(5)))
enum ToolTests {}
