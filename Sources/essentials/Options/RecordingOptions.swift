import ArgumentParser
import EssentialsObservability
import ServiceEssentials

/// Options that show a request instead of sending it, or record what is sent.
struct RecordingOptions: ParsableArguments {
    @Flag(
        name: .customLong("offline"),
        help: """
            Send nothing, and print the request on standard output. Values that look secret are hidden without \
            --show-secrets. To be answered from stored responses, as by a ResponseCache that “isOffline”, use --only-stored.
            """)
    var isOffline = false

    @Flag(
        name: .customLong("curl"),
        help: """
            Send nothing, and print the request as a command of curl. Values that look secret are hidden without \
            --show-secrets. The command has no pins, and no anchors but those of a single --anchor.
            """)
    var printsCommand = false

    @Option(
        name: .customLong("har"),
        help: ArgumentHelp(
            """
            Record the requests and responses in a HAR file, with redirects and retries, for “essentials har” and browsers. \
            Values that look secret are hidden.
            """, valueName: "file"),
        completion: .file())
    var file: String?

    @Flag(name: .customLong("har-bodies"), help: "With --har, also record the first 64 KiB of each body.")
    var recordsBodies = false

    func validate() throws {
        if isOffline, printsCommand { throw ValidationError("Give --offline or --curl, not both.") }
        if let option = preview?.option, file != nil {
            throw ValidationError("With \(option) there is nothing to record.")
        }
        if recordsBodies, file == nil { throw ValidationError("--har-bodies needs --har FILE.") }
        if file == "-" { throw ValidationError("--har needs the name of a file. Name it ./- if it is called so.") }
        if file?.isEmpty == true { throw ValidationError("--har needs a file name.") }
    }

    /// How the request is shown instead of being sent; `nil` if it is sent.
    var preview: RequestPreview.Form? { isOffline ? .request : printsCommand ? .command : nil }

    /// The recorder of the exchanges; `nil` if they are not recorded.
    var recorder: HARRecorder? {
        file.map { _ in HARRecorder(bodyLimit: recordsBodies ? HARRecorder.maximumBodySize : 0) }
    }
}
