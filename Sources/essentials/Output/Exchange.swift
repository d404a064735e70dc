import ServiceEssentials

/// What a command that sends one request does with it.
protocol Exchange: Sendable {
    /// The file to remove if the process is ended; `nil` if there is none.
    var temporaryPath: String? { get }
    /// Performs the exchange, and shuts its service down.
    func run() async throws(RequestFailure)
}
