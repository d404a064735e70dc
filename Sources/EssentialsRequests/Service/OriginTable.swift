import EssentialsHTTP

/// Values by origin, with a maximum number of origins. When it is exceeded, the value that was added first is replaced.
///
/// Looking up the origin of the last call costs a comparison instead of a hash, because most services use one origin.
struct OriginTable<Value> {
    private let maximum: Int
    private var indices: [Origin: Int] = [:]
    private var entries: [(origin: Origin, value: Value)] = []
    private var last = 0
    private var oldest = 0

    init(maximum: Int) { self.maximum = max(1, maximum) }

    /// Reads and changes the value of an origin, which is made at its first use.
    mutating func withValue<Result>(
        of origin: Origin, make: () -> Value, _ body: (inout Value) -> Result
    ) -> Result {
        if entries.isEmpty || entries[last].origin != origin { last = indices[origin] ?? add(origin, make()) }
        return body(&entries[last].value)
    }

    private mutating func add(_ origin: Origin, _ value: Value) -> Int {
        guard entries.count >= maximum else {
            entries.append((origin, value))
            indices[origin] = entries.count - 1
            return entries.count - 1
        }
        let index = oldest
        oldest = (oldest + 1) % maximum
        indices[entries[index].origin] = nil
        entries[index] = (origin, value)
        indices[origin] = index
        return index
    }
}
