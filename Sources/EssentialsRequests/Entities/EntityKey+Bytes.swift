import EssentialsStorage

extension EntityKey {
    /// Reads the bytes of a key; `nil` if they are damaged or of another format.
    package init?(bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let format: UInt8 = reader.number(), format == Self.format else { return nil }
        var parts: [String] = []
        for _ in 0..<7 {
            guard let part = reader.text() else { return nil }
            parts.append(part)
        }
        guard let schema: UInt32 = reader.number(), reader.count == 0 else { return nil }
        self.init(
            url: parts[3], variant: parts[4], stage: parts[5], type: parts[6], schema: schema,
            partition: EntityPartition(parts[0]), environment: parts[1], trust: parts[2])
    }
}
