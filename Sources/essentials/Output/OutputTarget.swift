/// Where the body of a response goes.
enum OutputTarget: Sendable {
    case standardOutput
    /// A file that appears when it is whole.
    case file(OutputFile)
    /// A file that is resumed after a failure.
    case download(path: String)
}
