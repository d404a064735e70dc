extension String {
    /// Letters and digits of ASCII by chance, each of the 62 as likely as the others: for names that nobody else has.
    ///
    /// ```swift
    /// let key = String.randomAlphanumeric(24)             // some 143 bits
    /// ```
    ///
    /// - Parameter count: How many; none for less than one.
    public static func randomAlphanumeric(_ count: Int) -> String {
        var system = SystemRandomNumberGenerator()
        return randomAlphanumeric(count, using: &system)
    }

    /// Letters and digits of ASCII by chance, from a generator; see `randomAlphanumeric(_:)`.
    ///
    /// - Parameters:
    ///   - count: How many; none for less than one.
    ///   - generator: As hard to guess as the text is to be. The system's is; one that begins with a seed is for tests.
    public static func randomAlphanumeric(
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
