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

/** All others of the list of IANA. Most are words or names: links only with a path behind them. */
const rare =
  "aaa aarp abb abbott abbvie abc able abogado abudhabi academy accenture accountant accountants aco actor ads adult aeg aero aetna afl africa agakhan aig " +
  "airbus airforce airtel akdn alibaba alipay allfinanz allstate ally alsace alstom amazon americanexpress americanfamily amex amfam amica amsterdam analytics " +
  "android anquan anz aol apartments apple aquarelle arab aramco archi army arpa arte asda asia associates athleta attorney auction audi audible audio auspost " +
  "author auto autos aws axa azure baby baidu banamex band bar barcelona barclaycard barclays barefoot bargains baseball basketball bauhaus bayern bbc bbt " +
  "bbva bcg bcn beats beauty beer berlin best bestbuy bet bharti bible bid bike bing bingo bio black blackfriday blockbuster bloomberg blue bms bmw bnpparibas " +
  "boats boehringer bofa bom bond boo book booking bosch bostik boston bot boutique box bradesco bridgestone broadway broker brother brussels build builders " +
  "business buy bv bzh cab cafe cal call calvinklein cam camera camp canon capetown capital capitalone car caravan cards care career careers cars casa case " +
  "casino cat catering catholic cba cbn cbre ceo cern cfa cfd chanel channel charity chase cheap chintai christmas chrome church cipriani circle cisco citadel " +
  "citi citic city claims cleaning clinic clinique clothing clubmed coach codes coffee college cologne commbank community compare computer comsec condos " +
  "construction consulting contact contractors cooking cool coop corsica country coupon coupons courses cpa credit creditcard creditunion cricket crown crs " +
  "cruise cruises cuisinella cymru cyou dad dance data date dating datsun day dclk dds deal dealer deals degree delivery dell deloitte delta democrat dental " +
  "dentist desi dhl diamonds diet direct directory discount discover dish diy dnp docs doctor dog domains dot download drive dtv dubai dupont durban dvag dvr " +
  "earth eat eco edeka education emerck energy engineer engineering enterprises epson equipment ericsson erni esq estate eurovision eus events expert exposed " +
  "express extraspace fage fail fairwinds faith family fan fans farm farmers fashion fast fedex feedback ferrari ferrero fidelity fido film final financial " +
  "fire firestone firmdale fish fishing fit fitness flickr flights flir florist flowers fly foo food football ford forex forsale forum foundation fox free " +
  "fresenius frl frogans frontier ftr fujitsu fund furniture futbol fyi gal gallery gallo gallup game games gap garden gay gb gbiz gdn gea gent genting george " +
  "ggee gift gifts gives giving glass gle globo gmail gmbh gmo gmx godaddy gold goldpoint golf goo goodyear goog google gop got grainger graphics gratis green " +
  "gripe grocery gucci guge guide guitars guru hair hamburg hangout haus hbo hdfc hdfcbank health healthcare help helsinki here hermes hiphop hisamitsu " +
  "hitachi hiv hkt hockey holdings holiday homedepot homegoods homes homesense honda horse hospital hot hotels hotmail house how hsbc hughes hyatt hyundai ibm " +
  "icbc ice ieee ifm ikano imamat imdb immo immobilien industries infiniti ing ink institute insurance insure international intuit investments ipiranga irish " +
  "ismaili ist istanbul itau itv jaguar java jcb jeep jetzt jewelry jio jll jmp jnj jobs joburg jot joy jpmorgan jprs juegos juniper kaufen kddi kerryhotels " +
  "kerryproperties kfh kia kids kim kindle kitchen kiwi koeln komatsu kosher kpmg kpn krd kred kuokgroup kyoto lacaixa lamborghini lamer landrover lanxess " +
  "lasalle lat latino latrobe law lawyer lds lease leclerc lefrak legal lego lexus lgbt lidl lifeinsurance lifestyle lighting like lilly limited limo lincoln " +
  "living llp loans locker locus lol london lotte lotto love lpl lplfinancial ltda lundbeck luxe luxury madrid maif maison makeup man management mango map " +
  "market marketing markets marriott marshalls mattel mba mckinsey med meet melbourne meme memorial men menu merckmsd miami microsoft mini mint mit mitsubishi " +
  "mlb mls mma mobile moda moe moi mom monash monster mormon mortgage moscow moto motorcycles movie msd mtn mtr museum music nab nagoya navy nba nec netbank " +
  "netflix neustar new next nextdirect nexus nfl ngo nhk nico nike nikon ninja nissan nissay nokia norton now nowruz nowtv nra nrw ntt nyc obi observer office " +
  "okinawa olayan olayangroup ollo omega ong onl ooo open oracle orange organic origins osaka otsuka ott ovh panasonic paris pars partners parts party pay " +
  "pccw pet pfizer pharmacy phd philips phone photo photography photos physio pics pictet pictures pid pin ping pink pioneer pizza place play playstation " +
  "plumbing plus pnc pohl poker politie porn post praxi press prime prod productions prof progressive promo properties property protection pru prudential pub " +
  "pwc qpon quebec quest racing radio read realestate realtor realty recipes red redumbrella rehab reise reisen reit reliance ren rent rentals repair report " +
  "republican restaurant review reviews rexroth rich richardli ricoh ril rio rip rocks rodeo rogers room rsvp rugby ruhr rwe ryukyu saarland safe safety " +
  "sakura sale salon samsclub samsung sandvik sandvikcoromant sanofi sap sarl sas save saxo sbi sbs scb schaeffler schmidt scholarships school schule schwarz " +
  "science scot search seat secure security seek select sener services seven sew sex sexy sfr shangrila sharp shell shia shiksha shoes shopping shouji show " +
  "silk sina singles sj ski skin sky skype sling smart smile sncf soccer softbank software sohu solar song sony soy spa sport spot srl stada staples star " +
  "statebank statefarm stc stcgroup stockholm storage stream study style sucks supplies supply surf surgery suzuki swatch swiss sydney tab taipei talk taobao " +
  "target tatamotors tatar tattoo tax taxi tci tdk technology tel temasek tennis teva thd theater theatre tiaa tickets tienda tips tires tirol tjmaxx tjx " +
  "tkmaxx tmall tokyo tools toray toshiba total tours town toyota toys trade trading training travel travelers travelersinsurance trust trv tube tui tunes " +
  "tushu tvs ubank ubs unicom university uno uol ups vacations vana vanguard vegas ventures verisign vermögensberater vermögensberatung versicherung vet " +
  "viajes video vig viking villas vin virgin visa vision viva vivo vlaanderen vodka volvo vote voting voto voyage wales walmart walter wang wanggou watch " +
  "watches weather weatherchannel webcam weber wed wedding weibo weir whoswho wien wiki williamhill windows wine winners wme wolterskluwer woodside wow wtc " +
  "wtf xbox xerox xihuan xin xxx yachts yahoo yamaxun yandex yodobashi yoga yokohama you youtube yun zappos zara zero zuerich ελ ευ бг дети ею католик ком мкд " +
  "мон москва онлайн орг рус сайт қаз հայ ישראל קום ابوظبي ارامكو الاردن البحرين الجزائر السعودية العليان المغرب امارات ایران بارت بازار بيتك بھارت تونس سودان " +
  "سورية شبكة عراق عرب عمان فلسطين قطر كاثوليك كوم مصر مليسيا موريتانيا موقع همراه پاکستان ڀارت कॉम नेट भारत भारतम् भारोत संगठन বাংলা ভারত ভাৰত ਭਾਰਤ ભારત ଭାରତ " +
  "இந்தியா இலங்கை சிங்கப்பூர் భారత్ ಭಾರತ ഭാരതം ලංකා คอม ไทย ລາວ გე アマゾン クラウド グーグル コム ストア セール ファッション ポイント 世界 中信 中文网 亚马逊 企业 佛山 信息 健康 八卦 公益 台湾 商城 商店 商标 嘉里 嘉里大酒店 " +
  "大拿 天主教 娱乐 家電 广东 微博 慈善 我爱你 手机 招聘 政务 政府 新加坡 新闻 时尚 書籍 机构 淡马锡 游戏 澳門 点看 移动 组织机构 网址 网店 网站 联通 谷歌 购物 通販 集团 電訊盈科 飞利浦 食品 餐厅 香格里拉 닷넷 닷컴 삼성";

/** Endings that are also those of files, or words that stand behind a dot in code: links only with a path behind them. */
const alsoFiles =
  "sh py rs md pl cc ml mm ps pm so am la as in mk tf do id st name test local internal lan home email run rest group host data one";

/** Endings that begin a sentence if a space was forgotten ("done.It works"): written like that they make no link. */
const sentenceStart = /^(?:Am|As|At|Be|By|Do|In|Is|It|La|Me|My|No|So|To|Us|One|Work|Today|Live|Run)$/v;

const known: ReadonlySet<string> = new Set(`${countries} ${others} ${rare}`.split(" "));
const onlyWithPath: ReadonlySet<string> = new Set(`${alsoFiles} ${rare}`.split(" "));
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
