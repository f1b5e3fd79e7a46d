/** Endings of countries. */
const countries =
  "ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz " +
  "de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it " +
  "je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng " +
  "ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th " +
  "tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw рф бел укр срб 中国 中國 公司 网络 在线 香港 台灣 한국 みんな";

/** The most used other endings, and those reserved for examples and private networks. */
const others =
  "com net org edu gov mil int info biz name pro mobi app dev page xyz online site website web shop store tech cloud club live life link click top win vip icu buzz " +
  "fun space world today email news blog agency digital media studio design host hosting network systems solutions support center zone group company team work works " +
  "money finance bank loan cash exchange chat social art one global ltd inc llc run rest land zip mov example test invalid local internal lan home onion";

/** Endings that files have too, or words after a dot in code: they make a link only with a path after them. */
const alsoFiles =
  "sh py rs md pl cc ml mm ps pm so am la as in mk tf do id st name test local internal lan home email run rest group host data one";

/** Endings that begin a sentence if a space was forgotten ("done.It works"): written like that they make no link. */
const sentenceStart = /^(?:Am|As|At|Be|By|Do|In|Is|It|La|Me|My|No|So|To|Us|One|Work|Today|Live|Run)$/v;

const known: ReadonlySet<string> = new Set(`${countries} ${others}`.split(" "));
const onlyWithPath: ReadonlySet<string> = new Set(alsoFiles.split(" "));
const fourNumbers = /^\d{1,3}(?:\.\d{1,3}){3}$/v;

/**
 * True if a host (with its port, if it has one) ends as hosts do, so that people and programs take it for a
 * link. `followed` says that a path follows: then the ending may also be one that files have.
 */
export function isKnownEnding(authority: string, followed: boolean): boolean {
  const colon = authority.lastIndexOf(":");
  const host = (colon < 0 ? authority : authority.slice(0, colon)).replace(/\.$/v, "");
  const leads = followed || colon >= 0;
  if (fourNumbers.test(host)) return leads;
  const ending = host.slice(host.lastIndexOf(".") + 1);
  const lower = ending.toLowerCase();
  if (!known.has(lower) && !lower.startsWith("xn--")) return false;
  return leads || !(onlyWithPath.has(lower) || sentenceStart.test(ending));
}
