import EssentialsHTTP

/// Values by origin, with a maximum number of origins. When it is exceeded, the value that was added first is replaced.
///
/// Looking up the origin of the last call costs a comparison instead of a hash, because most services use one origin.
struct OriginTable<Value> {
    private let maximum: Int
    private var indices: [Origin: Int] = [:]
    // Two arrays, because a pair of an origin and a value is copied as a whole when one of them is read.
    private var origins: [Origin] = []
    private var values: [Value] = []
    private var last = 0
    private var oldest = 0

    init(maximum: Int) { self.maximum = max(1, maximum) }

    /// Reads and changes the value of an origin, which is made at its first use.
    mutating func withValue<Result>(
        of origin: Origin, make: () -> Value, _ body: (inout Value) -> Result
    ) -> Result {
        if origins.isEmpty || origins[last] != origin { last = indices[origin] ?? add(origin, make()) }
        return body(&values[last])
    }

    private mutating func add(_ origin: Origin, _ value: Value) -> Int {
        guard origins.count >= maximum else {
            origins.append(origin)
            values.append(value)
            indices[origin] = origins.count - 1
            return origins.count - 1
        }
        let index = oldest
        oldest = (oldest + 1) % maximum
        indices[origins[index]] = nil
        origins[index] = origin
        values[index] = value
        indices[origin] = index
        return index
    }
}
