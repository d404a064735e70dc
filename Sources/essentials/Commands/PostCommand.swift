import ArgumentParser
import ServiceEssentials

/// `essentials post`
struct PostCommand: NamedMethodCommand {
    static let method = HTTPRequest.Method.post
    static let configuration = describe(
        "Send a body for the resource to act on.",
        #"""
          essentials post https://api.example.com/users --json '{"name": "Ada"}'
          essentials post https://example.com/upload --data @photo.jpg
          essentials post https://example.com/search --form 'q=a b' --form page=2
          essentials post https://example.com/films --part title=Summer --part 'film=@1.mp4;type=video/mp4'
        """#)

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Body") var content: BodyOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    var body: BodyOptions? { content }
}
