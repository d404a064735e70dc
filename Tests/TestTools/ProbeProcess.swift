/// The program `ResourceProbe`.
extension ChildProcess {
    /// Starts the program with an outbox.
    package convenience init(outbox directory: String, url: String, first: Int, count: Int, holds: Bool = false) throws
    {
        let arguments = ["outbox", directory, url, "\(first)", "\(count)"]
        try self.init("ResourceProbe", arguments + (holds ? ["hold"] : []))
    }

    /// Starts the program with an entity cache.
    ///
    /// - Parameter number: Tells the processes of a directory apart: 0 or 1.
    package convenience init(cache directory: String, number: Int, maximumBytes: Int) throws {
        try self.init("ResourceProbe", ["cache", directory, "\(number)", "\(maximumBytes)"])
    }
}
