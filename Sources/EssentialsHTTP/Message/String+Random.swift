extension String {
    /// Random ASCII letters and digits, for unique names. Each of the 62 characters is equally likely.
    ///
    /// ```swift
    /// let key = String.randomAlphanumeric(24)             // about 143 bits
    /// ```
    ///
    /// - Parameter count: The number of characters. The text is empty if it is less than one.
    package static func randomAlphanumeric(_ count: Int) -> String {
        var system = SystemRandomNumberGenerator()
        return randomAlphanumeric(count, using: &system)
    }

    /// Random ASCII letters and digits from a given generator; see `randomAlphanumeric(_:)`.
    ///
    /// - Parameters:
    ///   - count: The number of characters. The text is empty if it is less than one.
    ///   - generator: The source of randomness. A seeded generator is predictable, so use one only in tests.
    package static func randomAlphanumeric(
        _ count: Int, using generator: inout some RandomNumberGenerator
    ) -> String {
        guard count > 0 else { return "" }
        return String(unsafeUninitializedCapacity: count) { buffer in
            for index in 0..<count {
                buffer[index] = alphanumerics[Int.random(in: alphanumerics.indices, using: &generator)]
            }
            return count
        }
    }

    private static let alphanumerics = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
}
