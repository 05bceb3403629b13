import Testing

@testable import understudy

/// How command lines are read: what is understood, and the words for what is not.
struct CommandLineTests {
    private func read(_ line: String, environment: [String: String] = [:]) throws(UsageError) -> ParsedArguments {
        let list = line.split(separator: " ").map(String.init)
        let reader = CommandLineReader(table: Commands.table, environment: environment)
        guard case .run(let parsed) = try reader.read(list) else {
            throw UsageError(message: "help was asked for", usage: "")
        }
        return parsed
    }

    private func message(_ line: String, environment: [String: String] = [:]) -> String? {
        do throws(UsageError) {
            _ = try read(line, environment: environment)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func `a whole sign-in line is understood`() throws {
        let parsed = try read(
            "signin --device d --issuer http://127.0.0.1:1/acme --client app_demo --scope openid --scope=email "
                + "--hint a@b.example --resource http://127.0.0.1:2/acme --scan mismatch,match --fault lose-reply:token "
                + "--json --show-tokens")
        #expect(parsed.command.name == "signin")
        #expect(parsed["device"] == "d")
        #expect(parsed.all("scope") == ["openid", "email"])
        #expect(Words.divided(parsed.all("scan")) == ["mismatch", "match"])
        #expect(parsed.has("json"))
        #expect(parsed.has("show-tokens"))
        #expect(!parsed.has("verbose"))
        #expect(parsed.arguments.isEmpty)
    }

    @Test(
        arguments: [
            "--state /tmp/x device show phone", "device --state /tmp/x show phone", "device show --state /tmp/x phone",
            "device show phone --state /tmp/x", "device show phone --state=/tmp/x",
            "--state /tmp/y device show phone --state /tmp/x",
        ])
    func `global options may stand anywhere and the last one counts`(line: String) throws {
        let parsed = try read(line)
        #expect(parsed.command.name == "device show")
        #expect(parsed["state"] == "/tmp/x")
        #expect(parsed.arguments == ["phone"])
    }

    @Test func `everything behind two dashes is an argument`() throws {
        #expect(try read("device clock d -- -2h").arguments == ["d", "-2h"])
        #expect(try read("fetch --device d -X POST -d -- http://127.0.0.1:1/").all("data") == ["--"])
    }

    @Test(
        arguments: [
            ("sigin", "unknown command 'sigin'; did you mean 'signin'?"),
            ("frobnicate", "unknown command 'frobnicate'"),
            ("device crate", "unknown command 'device crate'; did you mean 'device create'?"),
            ("flow eat", "unknown command 'flow eat'; there are list, show, retry, cancel, take-secret, scan"),
            ("device", "device needs a verb: create, list, show, scans, clock, attestation, life, delete"),
            ("", "a command is missing"),
            ("signin", "signin needs --device D"),
            ("signin --device d --issuer i", "signin needs --client C"),
            ("signin --device", "signin: --device needs a value: --device D"),
            ("fetch --device d -X", "fetch: -X needs a value: -X METHOD"),
            ("signin --hnit x", "signin: unknown option --hnit; did you mean '--hint'?"),
            ("signin --hnit=x", "signin: unknown option --hnit; did you mean '--hint'?"),
            ("device list -q", "device list: unknown option -q"),
            ("device list --json=yes", "device list: --json takes no value"),
            ("device list extra", "device list: unexpected argument 'extra'"),
            ("flow show", "flow show needs FLOW"),
            ("flow scan f", "flow scan needs OUTCOME"),
            ("fetch --device d", "fetch needs URL"),
            ("device list --limit 0", "device list: --limit: '0' must be a whole number from 1 to 1000"),
            ("device list --limit ten", "device list: --limit: 'ten' must be a whole number from 1 to 1000"),
            (
                "device create d --platform windows",
                "device create: --platform: 'windows' must be one of ios, android"
            ),
            ("--stat /tmp version", "unknown option --stat; did you mean '--state'?"),
            ("--state= version", "--state: '' must not be empty"),
        ])
    func `a wrong line is answered by one that names the thing`(line: String, expected: String) {
        #expect(message(line) == expected)
    }

    @Test(arguments: ["device list --lim 3", "device list --lim=3", "signin --dev d", "--js version"])
    func `abbreviations are refused, so that a new option breaks no script`(line: String) throws {
        #expect(try #require(message(line)).contains("unknown option"))
    }

    @Test func `the usage line comes with the fault`() {
        let reader = CommandLineReader(table: Commands.table, environment: [:])
        let error = #expect(throws: UsageError.self) { try reader.read(["signin", "--device"]) }
        #expect(
            error?.lines == [
                "understudy: signin: --device needs a value: --device D",
                "usage: understudy signin --device D --issuer I --client C [options]",
            ])
    }

    @Test func `a flag beats the environment and the environment beats the default`() throws {
        let environment = ["UNDERSTUDY_STATE": "/env", "UNDERSTUDY_ALLOW_HOSTS": "a.example,b.example"]
        let parsed = try read("version", environment: environment)
        #expect(parsed["state"] == "/env")
        #expect(parsed.all("allow-host") == ["a.example", "b.example"])
        #expect(!parsed.given.contains("state"))
        let flag = try read("version --state /flag --allow-host c.example", environment: environment)
        #expect(flag["state"] == "/flag")
        #expect(flag.all("allow-host") == ["c.example"])
    }

    @Test(
        arguments: [
            ("help", []), ("--help", []), ("-h", []), ("help signin", ["signin"]), ("signin --help", ["signin"]),
            ("signin --device d -h", ["signin"]), ("device --help", ["device"]),
            ("help device create", ["device", "create"]), ("device create --help", ["device", "create"]),
        ])
    func `help is understood wherever it is asked for`(line: String, topic: [String]) throws {
        let reader = CommandLineReader(table: Commands.table, environment: [:])
        guard case .help(let words) = try reader.read(line.split(separator: " ").map(String.init)) else {
            Issue.record("no help for \(line)")
            return
        }
        #expect(words == topic)
        #expect(Help(table: Commands.table).lines(about: words).count > 3)
    }

    @Test func `help names every option, its environment and its default`() {
        let text = Help(table: Commands.table).lines(about: ["signin"]).joined(separator: "\n")
        for option in GlobalOptions.all { #expect(text.contains("--\(option.name)")) }
        #expect(text.contains("$UNDERSTUDY_STATE"))
        #expect(text.contains("(required)"))
        let overview = Help(table: Commands.table).lines(about: []).joined(separator: "\n")
        for command in Commands.table.commands { #expect(overview.contains("  \(command.name)  ")) }
    }

    @Test func `help fits a terminal of a hundred columns`() {
        let help = Help(table: Commands.table)
        let topics = Commands.table.commands.map(\.path) + [[]]
        for line in topics.flatMap({ help.lines(about: $0) }) where line.count > 100 {
            #expect(!line.hasPrefix("  "), "too long: \(line)")
        }
    }

    @Test func `no command declares an option twice or hides a global one`() {
        for command in Commands.table.commands {
            let names = (GlobalOptions.all + command.options).map(\.name)
            #expect(Set(names).count == names.count, "\(command.name)")
            let letters = (GlobalOptions.all + command.options).compactMap(\.letter)
            #expect(Set(letters).count == letters.count, "\(command.name)")
        }
        let paths = Commands.table.commands.map(\.path)
        #expect(Set(paths).count == paths.count)
    }

    @Test func `many lines may be read at once`() async {
        let failures = await withTaskGroup(of: Int.self) { group in
            for number in 0..<64 {
                group.addTask {
                    (0..<50).count { _ in
                        (try? self.read("device list --limit \(number + 1) --after x\(number)"))?.all("after") != [
                            "x\(number)"
                        ]
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(failures == 0)
    }
}
