import Encoding
import Testing

@testable import Scenario

@Suite("Files that are no scenarios")
struct BrokenFileTests {
    private static let head = #"title: "t", group: "g", source: "s", "#

    private func faults(_ text: String) -> [String] {
        do throws(BrokenFile) {
            _ = try Scenario(file: "a.json5", text: text)
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }

    private func faults(ofSteps steps: String) -> [String] {
        faults(
            "{ title: 't', group: 'g', source: 's', users: { ada: {} }, devices: { phone: { enrolled: 'ada' } },\n  steps: [\(steps)] }"
        )
    }

    @Test(
        "each broken step is refused with file, line, column, the rule and what came",
        arguments: [
            (
                "{ signin: { device: 'phone', usr: 'ada' } }",
                "a.json5:2:40: there is no 'usr' in steps[0].signin, did you mean 'user'; known are device, user,"
            ),
            (
                "{ sigin: { device: 'phone' } }",
                "a.json5:2:13: there is no 'sigin' in steps[0], did you mean 'signin'; known are name, times,"
            ),
            ("{ name: 'x' }", "a.json5:2:11: a step does exactly one thing, and here stands none"),
            (
                "{ signout: { device: 'phone' }, refresh: { device: 'phone' } }",
                "a.json5:2:11: a step does exactly one thing, and here stands signout and refresh"
            ),
            (
                "{ signin: { device: 'phon' } }",
                "a.json5:2:31: there is no phone 'phon' in this file; did you mean 'phone'?"
            ),
            (
                "{ signin: { device: 'phone', user: 'ads' } }",
                "a.json5:2:46: there is no user 'ads' in this file; did you mean 'ada'?"
            ),
            ("{ signin: { } }", "a.json5:2:21: steps[0].signin needs 'device': the phone"),
            ("{ signin: 'phone' }", "a.json5:2:21: steps[0].signin must be an object, not 'phone'"),
            (
                "{ signin: { device: 'phone', scopes: 'openid' } }",
                "a.json5:2:48: steps[0].signin.scopes must be a list, not 'openid'"
            ),
            ("{ signin: { device: 7 } }", "a.json5:2:31: steps[0].signin.device must be a text, not 7"),
            (
                "{ signin: { device: 'phone' }, expect: { result: 'signed-in' } }",
                "a.json5:2:60: steps[0].expect.result must be one of signed_in, failed, parked, not 'signed-in'; did you mean 'signed_in'?"
            ),
            (
                "{ signin: { device: 'phone' }, expect: { status: 99 } }",
                "a.json5:2:60: steps[0].expect.status must be a whole number from 100 to 599, not 99"
            ),
            (
                "{ signin: { device: 'phone' }, expect: { calls: { start: -1 } } }",
                "a.json5:2:68: steps[0].expect.calls.start must be a whole number from 0 to 1000, not -1"
            ),
            (
                "{ signin: { device: 'phone' }, expect: { accepted: 'yes' } }",
                "a.json5:2:62: steps[0].expect.accepted must be true or false, not 'yes'"
            ),
            (
                "{ signin: { device: 'phone' }, expect: { findings: [7] } }",
                "a.json5:2:63: steps[0].expect.findings[0] must be a text, or an object, not 7"
            ),
            (
                "{ advance: { who: 'world', by: '1 hour' } }",
                "a.json5:2:42: steps[0].advance.by must be a span of time such as 90s or -2h, not '1 hour'"
            ),
            (
                "{ advance: { who: 'ipd', by: '1h' } }",
                "a.json5:2:29: there is no clock 'ipd' in this file; did you mean 'idp'?"
            ),
            (
                "{ manage: { method: 'get', path: '/x' } }",
                "a.json5:2:31: steps[0].manage.method must be one of GET, POST, PUT, PATCH, DELETE, not 'get'; did you mean 'GET'?"
            ),
            ("{ enrol: { device: 'phone' } }", "a.json5:2:20: enrol needs 'user' or 'ticket'"),
            ("{ parallel: [] }", "a.json5:2:23: parallel must not be empty"),
            ("{ parallel: [{ parallel: [] }] }", "a.json5:2:26: there is no 'parallel' in steps[0].parallel[0]"),
            (
                "{ parallel: [{ signout: { device: 'phone' } }], expect: {} }",
                "a.json5:2:67: what is expected of steps at once stands in each of them"
            ),
            (
                "{ times: 0, signout: { device: 'phone' } }",
                "a.json5:2:20: steps[0].times must be a whole number from 1 to 1000, not 0"
            ),
            ("", "a.json5:2:10: steps must not be empty"),
        ])
    func steps(text: String, message: String) {
        let found = faults(ofSteps: text)
        #expect(found.contains { $0.hasPrefix(message) }, "\(found)")
    }

    @Test(
        "so is each broken file",
        arguments: [
            (
                "{ titel: 't' }",
                [
                    "a.json5:1:1: the file needs 'title': what is shown, in a sentence",
                    "a.json5:1:1: the file needs 'group': which part of the library it belongs to",
                    "a.json5:1:1: the file needs 'source': where the rule comes from",
                    "a.json5:1:1: the file needs 'steps': what happens, in order",
                    "a.json5:1:3: there is no 'titel' in a scenario, did you mean 'title'; known are $schema, title, group, source, seed, needs, tenant, client, client_key, idp, users, devices, steps",
                ]
            ),
            ("[]", ["a.json5:1:1: the file must be an object, not an array"]),
            ("{ title: 't' group: 'g' }", ["a.json5:1:14: expected ',' or '}', found 'g'"]),
            (
                "{ \(head)needs: ['referenc'], steps: [{ clear_faults: true }] }",
                ["a.json5:1:48: needs[0] must be one of reference, api, not 'referenc'; did you mean 'reference'?"]
            ),
            (
                "{ \(head)devices: { p: { platform: 'windows', clock: 'soon', enrolled: ['bob'] } }, steps: [{ clear_faults: true }] }",
                [
                    "a.json5:1:66: devices.p.platform must be one of ios, android, not 'windows'",
                    "a.json5:1:84: devices.p.clock must be a clock such as real, +90s or @1790000000, not 'soon'",
                    "a.json5:1:103: there is no user 'bob' in this file",
                ]
            ),
        ])
    func files(text: String, messages: [String]) {
        #expect(faults(text) == messages)
    }

    @Test("a file with very many faults names the first fifty") func bounded() {
        let steps = (0..<80).map { _ in "{ signout: { device: 7 } }" }.joined(separator: ", ")
        #expect(faults(ofSteps: steps).count == ShapeCheck.mostFaults)
    }
}
